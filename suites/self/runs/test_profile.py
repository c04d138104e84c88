"""Profiles: every mistake gives one sentence that names the file and the key."""

import pytest

from steertag.suite.run.profile import BadProfile, load, parse


def test_a_full_profile():
    profile = parse(
        {
            "name": "knfsd",
            "export": "/export",
            "mount": {"transport": "tcp", "host": "127.0.0.1", "port": 20048},
            "supports": {"nfs3": True, "large-inline": False},
            "uid": 5,
            "destructive": True,
        }
    )
    assert (profile.uid, profile.mount["port"]) == (5, 20048)
    assert profile.supports == {"nfs3": True, "large-inline": False}


@pytest.mark.parametrize(
    "content, sentence",
    [
        ([], "expected a mapping"),
        ({"nmae": "x"}, "unknown key 'nmae'"),
        ({"uid": "root"}, "uid must be of type int"),
        ({"uid": True}, "uid must be of type int"),
        ({"supports": {"nfs9": True}}, "supports: unknown need 'nfs9'"),
        ({"supports": {"fault-hooks": False}}, "supports: unknown need 'fault-hooks'"),
        ({"supports": {"nfs3": "yes"}}, "supports: nfs3 must be true or false"),
        ({"mount": {"transport": "udp"}}, "mount: transport must be rdma or tcp"),
        ({"mount": {"transport": "tcp", "host": "h", "port": 0}}, "mount: port must be a number"),
        ({"mount": {"transport": "tcp", "port": 1}}, "mount: host must be a name or an address"),
        ({"mount": {"transport": "tcp", "port": 1, "host": "a" * 64}}, "mount: host must be"),
        ({"mount": {"transport": "tcp", "port": 1, "host": "a\0b"}}, "mount: host must be"),
        ({"mount": {"handle": "00" * 65}}, "mount: handle must have 1 to 64 octets"),
        ({"mount": {"handle": ""}}, "mount: handle must have 1 to 64 octets"),
        ({"uid": -1}, "uid must be a number from 0 to 4294967295"),
        ({"gid": 1 << 32}, "gid must be a number from 0 to 4294967295"),
        ({"export": "\ud800"}, "export has characters"),
        ({"console": "a\0b"}, "console has characters"),
        ({"mount": {"handle": "xy"}}, "mount: handle must be a string of hex digits"),
        ({"tcp": "iwarp://h"}, "tcp must be a URL tcp://host"),
        ({"tcp": "h:2049"}, "tcp: "),
        ({"mount": {"via": "rdma"}}, "mount: unknown key 'via'"),
    ],
)
def test_mistakes_are_named(content, sentence):
    with pytest.raises(BadProfile, match=sentence):
        parse(content)


@pytest.mark.parametrize(
    "text", ["name: 2001-99-99", 'name: !!timestamp "x"', 'uid: !!int "abc"', "name: " + "[" * 5000]
)
def test_yaml_that_its_library_stumbles_over_is_one_sentence(tmp_path, text):
    bad = tmp_path / "bad.yaml"
    bad.write_text(text)
    with pytest.raises(BadProfile, match="bad.yaml: not YAML: "):
        load(bad)


def test_files_that_are_no_profile(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: [unclosed\n")
    with pytest.raises(BadProfile, match=r"bad.yaml, line 2: not YAML"):
        load(bad)
    bad.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(BadProfile, match="not UTF-8 text"):
        load(bad)
    with pytest.raises(BadProfile, match="No such file"):
        load(tmp_path / "none.yaml")

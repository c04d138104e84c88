"""Profiles: every mistake gives one sentence that names the file and the key."""

import pytest

from steertag.suite.profile import BadProfile, load, parse


def test_a_full_profile():
    profile = parse(
        {
            "name": "knfsd",
            "export": "/export",
            "mount": {"transport": "tcp", "host": "127.0.0.1", "port": 20048},
            "supports": {"nfs4.0": True, "gss": False},
            "uid": 5,
            "destructive": True,
        }
    )
    assert (profile.uid, profile.supports["gss"], profile.mount["port"]) == (5, False, 20048)


@pytest.mark.parametrize(
    "content, sentence",
    [
        ([], "expected a mapping"),
        ({"nmae": "x"}, "unknown key 'nmae'"),
        ({"uid": "root"}, "uid must be of type int"),
        ({"uid": True}, "uid must be of type int"),
        ({"supports": {"nfs9": True}}, "supports: unknown need 'nfs9'"),
        ({"supports": {"gss": "yes"}}, "supports: gss must be true or false"),
        ({"mount": {"transport": "udp"}}, "mount: transport must be rdma or tcp"),
        ({"mount": {"transport": "tcp", "host": "h", "port": 0}}, "mount: port must be a number"),
        ({"mount": {"transport": "tcp", "port": 1}}, "mount: host must be a string"),
        ({"mount": {"handle": "xy"}}, "mount: handle must be a string of hex digits"),
        ({"mount": {"via": "rdma"}}, "mount: unknown key 'via'"),
    ],
)
def test_mistakes_are_named(content, sentence):
    with pytest.raises(BadProfile, match=sentence):
        parse(content)


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

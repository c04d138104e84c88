"""Recordings as files: a file that is none, damaged or hostile gives one sentence and starts nothing."""

import dataclasses
import json
import os
import zipfile

import pytest
from steertag_command import bundled, run_cases, steertag

from steertag.suite.recording.recording_file import BadRecording, FORMAT, read

CASE = """
from steertag.suite import case, expect

VERSION = "RFC8166-4.5.1-1"

@case("self.kind", requirements=[VERSION], hostile=True)
def test_kind(bench):
    conn = bench.connect()
    call = conn.null_call()
    call.vers = 9
    expect(conn.exchange(call), VERSION, must=["err-vers"])
"""


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """The recording of a failure."""
    recordings = run_cases(tmp_path_factory.mktemp("run"), CASE, "--deviate", "version-executed")
    return recordings / "self.kind.steertag"


def changed(path, out, **fields):
    """The recording with other fields in its document."""
    with zipfile.ZipFile(path) as archive:
        document = json.loads(archive.read("recording.json"))
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("recording.json", json.dumps({**document, **fields}))
    return out


def test_another_version_is_named(failed, tmp_path):
    path = changed(failed, tmp_path / "x", format=FORMAT + 1, steertag="9.9")
    with pytest.raises(BadRecording, match=f"Steertag 9.9 wrote format {FORMAT + 1}, this is"):
        read(path)


@pytest.mark.parametrize("side", ["client", "switch", None])
def test_target_has_to_be_one_of_the_side_under_test(failed, tmp_path, side):
    path = changed(failed, tmp_path / "x", tests=side)
    with pytest.raises(BadRecording, match="content is damaged"):
        read(path)


DAMAGES = {
    "steps": [1],
    "case": None,
    "target": {"profile": {"uid": "x"}},
    "reason": 7,
    "verdict": "maybe",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_content_is_one_sentence(failed, tmp_path, name):
    path = changed(failed, tmp_path / "x", **{name: DAMAGES[name]})
    done = steertag("replay", path)
    assert done.returncode == 2
    assert done.stderr == f"steertag: {path}: a recording of Steertag whose content is damaged\n"


def test_what_is_no_recording_is_one_sentence(failed, tmp_path):
    whole = failed.read_bytes()
    files = {"empty": b"", "text": b"hello\n", "cut": whole[: len(whole) // 2]}
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(BadRecording, match="not a recording of Steertag"):
            read(path)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("other", "x")
    with pytest.raises(BadRecording, match="a zip file, but not a recording"):
        read(tmp_path / "other.zip")
    with pytest.raises(BadRecording, match="No such file"):
        read(tmp_path / "missing")


def test_an_unknown_step_is_not_played(failed, tmp_path):
    steps = [{"number": 0, "kind": "system", "subject": "files", "fields": {}}]
    done = steertag("replay", changed(failed, tmp_path / "x", steps=steps))
    assert done.returncode == 3
    assert "the recording has a step 'system', which is unknown here" in done.stdout


def test_a_file_that_is_none_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(BadRecording, match="not a file"):
            read(path)


def test_an_encrypted_file_is_none(failed, tmp_path):
    octets = bytearray(failed.read_bytes())
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):  # general purpose bit 0 of each header
        octets[octets.find(mark) + place] |= 1
    (tmp_path / "x").write_bytes(octets)
    with pytest.raises(BadRecording, match="not a recording of Steertag"):
        read(tmp_path / "x")


CONNECT = {"must_open": True, "settings": {}}
MEMORY = {"conn": "c0", "length": 8, "read": True, "write": True, "stag": 1, "base": 0}
# Steps behind a connection that no recorder writes, and what is said of them.
HOSTILE = {
    "lacks-a-field": (("given", "", {"name": "root"}), "step 1 (given) cannot be done: KeyError"),
    "another-type": (("quiet", "c0", {"ms": "1"}), "step 1 (quiet) cannot be done: TypeError"),
    "much-memory": (
        ("memory", "m0", {**MEMORY, "length": 1 << 60, "content": {"hex": "00"}}),
        "ValueError: memory has another length than its content",
    ),
    "many-receives": (
        ("connect", "c1", {**CONNECT, "settings": {"receives": 1 << 20, "receive_bytes": 1 << 20}}),
        "ValueError: receives for more than 256 MiB",
    ),
    "no-setting": (
        ("connect", "c1", {**CONNECT, "settings": {"x": 1}}),
        "(connect) cannot be done",
    ),
    "private-method": (("raw", "c0", {"method": "_x", "arguments": []}), "replayed: pass"),
    "no-value-of-ours": (("given", "", {"name": "x", "value": ""}), "no value is called 'x'"),
    "no-verdict": (
        ("check", "", {"conn": "", "xid": None, "verdict": "x", "reason": ""}),
        "step 1 (check) cannot be done: ValueError",
    ),
    "control-characters": (("quiet\x1b[2J", "c0", {}), "'quiet\\\\x1b[2J', which is unknown"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_step_is_one_sentence(failed, tmp_path, name):
    (kind, subject, fields), said = HOSTILE[name]
    steps = [{"number": 0, "kind": "connect", "subject": "c0", "fields": CONNECT}]
    steps.append({"number": 1, "kind": kind, "subject": subject, "fields": fields})
    done = steertag("replay", changed(failed, tmp_path / "x", steps=steps))
    assert said in done.stdout and "Traceback" not in done.stdout, done.stdout
    assert done.stderr == "" and "\x1b" not in done.stdout


def test_steps_without_their_fields_are_damaged(failed, tmp_path):
    steps = [{"number": 0, "kind": "connect", "subject": "c0", "fields": CONNECT}]
    steps.append({"number": 1, "kind": "raw", "subject": "c0", "fields": {}})
    for command in ("replay", "shrink"):
        path = changed(failed, tmp_path / "x", steps=steps)
        done = steertag(command, path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"steertag: {path}: a recording of Steertag whose steps are damaged\n"


def test_a_target_that_cannot_be_reached_is_one_sentence(failed):
    for url in ("iwarp://127.0.0.1:1", "iwarp://", "http://127.0.0.1", "nonsense"):
        done = steertag("replay", failed, "--target", url)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stdout + done.stderr
        assert done.stderr.startswith("steertag: ")


def test_a_recording_from_elsewhere_names_no_path_and_starts_no_program(failed, tmp_path):
    document = read(failed)
    case = {**document.case, "id": "../../self"}
    path = changed(failed, tmp_path / "id", case=case)
    with pytest.raises(BadRecording, match="damaged"):
        read(path)
    target = dataclasses.asdict(document.target)
    exporting = {**target, "arguments": ["--export", "/"]}
    done = steertag("replay", changed(failed, tmp_path / "x", target=exporting))
    assert done.returncode == 2
    assert "recorded with steertag serve --export /: start it and give --target URL" in done.stderr
    mark = tmp_path / "mark"
    commands = {"restart": ["touch", str(mark)], "died": ["touch", str(mark)]}
    with bundled(tmp_path, "--deviate", "version-executed") as url:
        profile = {**target["profile"], **commands}
        there = {**target, "url": url, "arguments": [], "profile": profile}
        done = steertag("replay", changed(failed, tmp_path / "y", target=there))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not mark.exists()

"""Recordings of failures: each is one file, is played again without the code of its case, tells another
target from the one that failed, and is refused with a sentence when it is none."""

import dataclasses
import json
import types
import zipfile

import pytest
from steertag_command import bundled, run_cases, steertag

from steertag.replay.symbols import Symbols
from steertag.suite.recording import BadRecording, FORMAT, read
from steertag.suite.verdict import NotTestable

CASES = """
import random

from steertag import wire
from steertag.suite import ANY, case, expect
from steertag.suite.compound import operation
from steertag.suite.nfs4_client import putfh

VERSION, GRANT, DATA = "RFC8166-4.5.1-1", "RFC8166-3.3.1-5", "RFC8267-4-3"
CALLBACK, ONCE = "RFC8167-5.1-1", "RFC8881-2.10.6.1-4"

@case("self.kind", requirements=[VERSION], hostile=True)
def test_kind(bench):
    conn = bench.connect()
    call = conn.null_call()
    call.vers = 9
    expect(conn.exchange(call), VERSION, must=["err-vers"])

@case("self.value", requirements=[GRANT], tolerates={GRANT: "asserted here"})
def test_value(bench):
    conn = bench.connect(greet=False)
    outcome = conn.exchange(conn.null_call())
    expect.at_least(outcome.header.credit, 1, GRANT, "credit grant", outcome=outcome)

@case("self.condition", requirements=[GRANT], tolerates={GRANT: "asserted here"})
def test_condition(bench):
    conn = bench.connect(greet=False)
    outcome = conn.exchange(conn.null_call())
    expect.true(0 < outcome.header.credit < 99, GRANT, "the grant is a number of calls", outcome=outcome)

@case("self.handles", requirements=[DATA], hostile=True)
def test_handles(bench):
    content = random.Random(1).randbytes(3000)
    name = bench.name("made")
    conn = bench.connect()
    made = conn.exchange(conn.nfs_call("CREATE", where={"dir": bench.files.base, "name": name},
                                       how={"mode": 0, "obj_attributes": {}}))
    handle = made.result.ok.obj
    call = conn.nfs_call("WRITE", file=handle, offset=0, count=3000, stable=2, data=content)
    conn.reduce(call, [1000, 2000])
    expect(conn.exchange(call), DATA, must=["reply"])
    call = conn.nfs_call("READ", file=handle, offset=0, count=3000)
    conn.write_chunk(call, sizes=[1500, 1500])
    outcome = expect(conn.exchange(call), DATA, must=["reply"])
    expect.data(outcome.result.ok.data, content, DATA, "octets of the file", outcome=outcome)
    call = conn.nfs_call("REMOVE", object={"dir": bench.files.base, "name": name})
    expect(conn.exchange(call), DATA, must=["reply"])
    spoilt = conn.null_call()
    spoilt.vers = 9
    expect(conn.exchange(spoilt), DATA, must=["err-vers"])

@case("self.crash", requirements=[VERSION], hostile=True)
def test_crash(bench):
    conn = bench.connect()
    call = conn.null_call()
    call.read_list_end = 7
    conn.exchange(call)

@case("self.private-data", requirements=["RFC8797-4-7"], tolerates={"RFC8797-4-7": "asserted here"})
def test_private_data(bench):
    flags = bytes(bench.connect().server_private_data)[5]
    expect.equal(flags & 0xFE, 0, "RFC8797-4-7", "reserved bits")

@case("self.callback", requirements=[CALLBACK], needs=["backchannel"])
def test_callback(bench):
    callbacks = bench.nfs4_session(back=True, answers_null=False).conn.callbacks
    callback = callbacks.wait(bench.deadlines.patience_ms)
    callbacks.answer(callback)
    expect.at_least(callback.header.credit, 1, CALLBACK, "credits that are asked for")

@case("self.retry", requirements=[ONCE], needs=["nfs41"])
def test_retry(bench):
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    files.file(b"content", "mine")
    remove = putfh(files.directory), operation("REMOVE", target="mine")
    for _ in range(2):
        outcome = session.exchange(*remove, slot=1, number=1, cachethis=True)
        expect(outcome, ONCE, must=["reply"])

@case("self.over-tcp", requirements=["RFC5531-9-1"], needs=["tcp"], over=ANY)
def test_over_tcp(bench):
    conn = bench.connect_tcp()
    call = conn.rpc_call(100003, 9, 0)
    conn.send(call, fragment_octets=8)
    outcome = conn.await_outcome(call)
    expect(outcome, "RFC5531-9-1", must=["reply"])

@case("self.pass", requirements=[VERSION])
def test_pass(bench):
    conn = bench.connect()
    expect(conn.exchange(conn.null_call()), VERSION, must=["reply"])
"""
# Which defect of the server fails which case, and how.
FAILURES = {
    "self.kind": ("version-executed", "fail", "expected err-vers, saw reply"),
    "self.value": ("grants-zero", "fail", "credit grant: expected at least 1, saw 0"),
    "self.condition": ("grants-zero", "fail", "not true: the grant is a number of calls"),
    "self.handles": ("version-executed", "fail", "expected err-vers, saw reply"),
    "self.crash": ("exits-on-broken-list", "crash", "exit status 70"),
    "self.private-data": ("announces-reserved-bits", "fail", "reserved bits: expected 0"),
    "self.callback": ("callback-asks-no-credit", "fail", "asked for: expected at least 1, saw 0"),
    "self.retry": ("retry-executed", "fail", "expected reply, saw nfs:NFS4ERR_NOENT"),
}


def selected(case_id):
    return "-k", case_id.removeprefix("self.").replace("-", "_")


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """{case id: recording} of every failure, each from a run of its own."""
    found = {}
    for case_id, (deviation, _, _) in FAILURES.items():
        folder = tmp_path_factory.mktemp("run")
        recordings = run_cases(folder, CASES, "--deviate", deviation, *selected(case_id))
        found[case_id] = recordings / f"{case_id}.steertag"
    return found


@pytest.mark.parametrize("case_id", FAILURES)
def test_a_failure_is_one_file_that_tells_what_was_seen(failures, case_id):
    recording = read(failures[case_id])
    _, verdict, reason = FAILURES[case_id]
    assert recording.case["id"] == case_id
    assert recording.verdict == verdict and reason in recording.reason
    assert recording.gap == "" and recording.steps and recording.detail
    assert recording.capture[:4] == b"\x0a\x0d\x0d\x0a", "the capture is pcapng"


def test_only_failures_leave_a_file(tmp_path):
    recordings = run_cases(tmp_path, CASES, "--deviate", "version-executed")
    assert sorted(path.name for path in recordings.iterdir()) == [
        "self.handles.steertag",
        "self.kind.steertag",
        "self.over-tcp.steertag",
    ]


def test_the_file_of_a_case_that_passes_now_is_taken_away(tmp_path):
    recordings = run_cases(tmp_path, CASES, "--deviate", "version-executed", *selected("self.kind"))
    assert [path.name for path in recordings.iterdir()] == ["self.kind.steertag"]
    run_cases(tmp_path, CASES, *selected("self.kind"))
    assert list(recordings.iterdir()) == []


@pytest.mark.parametrize("case_id", FAILURES)
def test_the_same_again_on_a_server_that_was_started_anew(failures, case_id):
    done = steertag("replay", failures[case_id])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("the same verdict and reason\n")


@pytest.mark.parametrize("case_id", FAILURES)
def test_a_conforming_server_passes(failures, case_id, tmp_path):
    server = bundled(tmp_path)
    server.start()
    try:
        done = steertag("replay", failures[case_id], "--target", server.urls["rdma"])
    finally:
        server.stop()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "replayed: pass\nanother verdict\n" in done.stdout


def test_records_over_tcp(tmp_path):
    recordings = run_cases(tmp_path, CASES, *selected("self.over-tcp"))
    done = steertag("replay", recordings / "self.over-tcp.steertag")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_a_target_lacks_is_not_reproducible(tmp_path):
    recordings = run_cases(tmp_path, CASES, *selected("self.over-tcp"))
    server = bundled(tmp_path)
    server.start()
    try:
        url = server.urls["rdma"]
        done = steertag("replay", recordings / "self.over-tcp.steertag", "--target", url)
    finally:
        server.stop()
    assert done.returncode == 3, done.stdout + done.stderr
    assert "unsupported: needs tcp" in done.stdout


# -- files that are none -------------------------------------------------------------------------


def changed(path, out, **fields):
    """The recording with other fields in its document."""
    with zipfile.ZipFile(path) as archive:
        document = json.loads(archive.read("recording.json"))
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("recording.json", json.dumps({**document, **fields}))
    return out


def test_another_version_is_named(failures, tmp_path):
    path = changed(failures["self.kind"], tmp_path / "x", format=FORMAT + 1, steertag="9.9")
    with pytest.raises(BadRecording, match=f"Steertag 9.9 wrote format {FORMAT + 1}, this is"):
        read(path)


def test_a_recording_of_the_other_suite_is_named(failures, tmp_path):
    path = changed(failures["self.kind"], tmp_path / "x", tests="client")
    with pytest.raises(BadRecording, match="with a client under test, not a server"):
        read(path)


DAMAGES = {
    "steps": [1],
    "case": None,
    "target": {"profile": {"uid": "x"}},
    "reason": 7,
    "verdict": "maybe",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_content_is_one_sentence(failures, tmp_path, name):
    path = changed(failures["self.kind"], tmp_path / "x", **{name: DAMAGES[name]})
    done = steertag("replay", path)
    assert done.returncode == 2
    assert done.stderr == f"steertag: {path}: a recording of Steertag whose content is damaged\n"


def test_what_is_no_recording_is_one_sentence(failures, tmp_path):
    whole = failures["self.kind"].read_bytes()
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


def test_a_step_that_nobody_knows_is_not_done(failures, tmp_path):
    steps = [{"number": 0, "kind": "system", "subject": "files", "fields": {}}]
    done = steertag("replay", changed(failures["self.kind"], tmp_path / "x", steps=steps))
    assert done.returncode == 3
    assert "the recording has a step 'system', which is unknown here" in done.stdout


def test_a_recording_from_elsewhere_names_no_path_and_starts_no_program(failures, tmp_path):
    document = read(failures["self.kind"])
    case = {**document.case, "id": "../../self"}
    path = changed(failures["self.kind"], tmp_path / "id", case=case)
    with pytest.raises(BadRecording, match="damaged"):
        read(path)
    target = dataclasses.asdict(document.target)
    exporting = {**target, "arguments": ["--export", "/"]}
    done = steertag("replay", changed(failures["self.kind"], tmp_path / "x", target=exporting))
    assert done.returncode == 2
    assert "recorded with steertag serve --export /: start it and give --target URL" in done.stderr
    mark = tmp_path / "mark"
    commands = {"restart": ["touch", str(mark)], "died": ["touch", str(mark)]}
    server = bundled(tmp_path, "--deviate", "version-executed")
    server.start()
    try:
        profile = {**target["profile"], **commands}
        there = {**target, "url": server.urls["rdma"], "arguments": [], "profile": profile}
        done = steertag("replay", changed(failures["self.kind"], tmp_path / "y", target=there))
    finally:
        server.stop()
    assert done.returncode == 0, done.stdout + done.stderr
    assert not mark.exists()


# -- values that differ from run to run --------------------------------------------------------------


def test_handles_are_those_of_this_run():
    symbols = Symbols()
    symbols.handle(b"recorded-handle!", b"handle-of-today!")
    octets = b"1234" + b"recorded-handle!" + b"5678"
    assert symbols.in_octets(octets) == b"1234" + b"handle-of-today!" + b"5678"


def test_handles_of_another_length_cannot_be_put_in_their_place():
    symbols = Symbols()
    symbols.handle(b"recorded-handle!", b"short")
    with pytest.raises(NotTestable, match="have 5 octets, those of the recording 16"):
        symbols.in_octets(b"recorded-handle!")


def test_segments_name_the_memory_of_this_run():
    symbols = Symbols()
    symbols.memory(0xAABBCCDD, 0x1000, types.SimpleNamespace(stag=0x11223344, base=0x5000))
    recorded = bytes.fromhex("aabbccdd 00000010 0000000000001020")
    assert symbols.in_message(recorded) == bytes.fromhex("11223344 00000010 0000000000005020")


def test_what_the_target_gave_out_is_learned():
    symbols = Symbols()
    before = bytes(52)
    recorded = before + b"\0\0\0\x0csession-1234"
    symbols.message(recorded, before + b"\0\0\0\x0csession-5678", has_header=True)
    assert symbols.in_octets(b"....session-1234") == b"....session-5678"


def test_what_we_sent_ourselves_is_not_learned():
    symbols = Symbols()
    symbols.in_message(b"our own octets..")
    before = bytes(52)
    symbols.message(before + b"our own octets..", before + b"something else..", has_header=True)
    assert symbols.in_octets(b"our own octets..") == b"our own octets.."


def test_a_recording_is_written_as_it_is_read(failures, tmp_path):
    from steertag.suite.recording import write

    recording = read(failures["self.handles"])
    write(tmp_path / "again", recording)
    assert dataclasses.asdict(read(tmp_path / "again")) == dataclasses.asdict(recording)

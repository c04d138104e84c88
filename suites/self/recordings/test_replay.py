"""Recordings of failures: each is one file, is played again without the code of its case, and tells another
target from the one that failed."""

import dataclasses
import types

import pytest
from steertag_command import bundled, run_cases, steertag

from steertag.replay.symbols import Symbols
from steertag.suite.cases.case_end import NotTestable
from steertag.suite.recording.recording_file import read

CASES = """
import random

from steertag import wire
from steertag.suite import ANY, case, expect
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import putfh

VERSION, GRANT, DATA = "RFC8166-4.5.1-1", "RFC8166-3.3.1-5", "RFC8267-4-3"
CALLBACK, ONCE, SIZE = "RFC8167-5.1-1", "RFC8881-2.10.6.1-4", "RFC8166-3.4.5-5"

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

@case("self.memory", requirements=[DATA], tolerates={"RFC8166-8.1.4-2": "asserted here"})
def test_memory(bench):
    handle, conn = bench.file(bytes(1000)), bench.connect()
    memory = conn.offer(2000, write=True)
    before = memory.bytes()
    call = conn.nfs_call("READ", file=handle, offset=0, count=1000)
    call.add_write_chunk([memory.segment(1000)])
    expect(conn.exchange(call, keep=True), DATA, must=["reply"])
    expect.data(memory.bytes()[1000:], before[1000:], DATA, "memory behind the chunk")

@case("self.order", requirements=[DATA], tolerates={"RFC8166-3.4.6-5": "asserted here",
                                                    "RFC8166-3.5.2-2": "asserted here"})
def test_order(bench):
    handle, conn = bench.file(bytes(1000)), bench.connect()
    call = conn.nfs_call("READ", file=handle, offset=0, count=1000)
    conn.write_chunk(call)
    outcome = conn.exchange(call, keep=True)
    expect(conn.probe(), DATA, must=["reply"])
    events = [each.kind for each in conn.recorder if each.kind == "rdma_write" or
              each.kind == "send" and each.bytes == outcome.raw]
    expect.true(events[-1] == "send", DATA, "the reply comes last", outcome=outcome)

@case("self.derived", requirements=[DATA], tolerates={"RFC8166-3.5.3-9": "asserted here"})
def test_derived(bench):
    handle, conn = bench.file(bytes(4093)), bench.connect()
    call = conn.nfs_call("READ", file=handle, offset=0, count=4093)
    conn.reply_chunk(call)
    length = sum(each.length for each in conn.exchange(call).header.reply_chunk)
    expect.equal(length % 4, 0, DATA, "octets behind the roundup")

@case("self.parts", requirements=[SIZE], hostile=True)
def test_parts(bench):
    handle, conn = bench.file(), bench.connect()
    call = conn.nfs_call("WRITE", file=handle, offset=0, count=4096, stable=2, data=bytes(4096))
    memory = conn.offer(4100, read=True)
    position, _ = call.take_eligible()
    call.add_read_chunk(position, memory.segments())
    if conn.exchange(call).kind == "reply":
        expect.equal(len(bench.read_back(handle)), 4096, SIZE, "octets of the file")

@case("self.over-tcp", requirements=["RFC5531-9-1"], needs=["tcp"], over=ANY)
def test_over_tcp(bench):
    conn = bench.connect_tcp()
    call = conn.rpc_call(100003, 9, 0)
    conn.send(call, fragment_octets=8)
    outcome = conn.await_outcome(call)
    expect(outcome, "RFC5531-9-1", must=["reply"])

@case("self.turns", requirements=[GRANT], tolerates={GRANT: "asserted here"})
def test_turns(bench):
    conns = bench.connect(), bench.connect()
    calls = [conn.null_call() for conn in conns]
    for conn, call in zip(conns, calls):
        conn.send(call)
    outcomes = {}
    for _ in range(1000):
        for conn, call in zip(conns, calls):
            outcome = conn.take_outcome(call, 5) if conn not in outcomes else None
            if outcome is not None:
                outcomes[conn] = expect(outcome, GRANT, must=["reply"])
    credit = outcomes[conns[1]].header.credit
    expect.at_least(credit, 1, GRANT, "credit grant", outcome=outcomes[conns[1]])

@case("self.warned", requirements=["RFC8166-4.6.1-2"], hostile=True)
def test_warned(bench):
    conn = bench.connect()
    call = conn.null_call()
    call.proc = wire.Procedure.MSGP
    expect(conn.exchange(call), "RFC8166-4.6.1-2", should=["err-chunk"])

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
    "self.memory": ("write-beyond-chunk", "fail", "memory behind the chunk: expected 1000 octets"),
    "self.order": ("writes-after-reply", "fail", "not true: the reply comes last"),
    "self.derived": ("long-reply-without-roundup", "fail", "behind the roundup: expected 0, saw 1"),
    "self.parts": ("read-pad-kept", "fail", "octets of the file: expected 4096, saw 4100"),
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


def test_what_a_case_takes_from_two_connections_in_turns_is_played_again(tmp_path):
    recordings = run_cases(tmp_path, CASES, "--deviate", "grants-zero", *selected("self.turns"))
    recording = read(recordings / "self.turns.steertag")
    assert (
        recording.gap == ""
        and len({step.subject for step in recording.steps if step.kind == "received"}) == 2
    )
    done = steertag("replay", recordings / "self.turns.steertag")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("case_id", FAILURES)
def test_the_same_again_on_a_server_that_was_started_anew(failures, case_id):
    done = steertag("replay", failures[case_id])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("the same verdict and reason\n")


@pytest.mark.parametrize("case_id", FAILURES)
def test_a_conforming_server_passes(failures, case_id, tmp_path):
    with bundled(tmp_path) as url:
        done = steertag("replay", failures[case_id], "--target", url)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "replayed: pass\nanother verdict\n" in done.stdout


def test_records_over_tcp(tmp_path):
    recordings = run_cases(tmp_path, CASES, *selected("self.over-tcp"))
    done = steertag("replay", recordings / "self.over-tcp.steertag")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_warning_that_fails_the_run_is_one_too(tmp_path):
    arguments = "--deviate", "msgp-discarded", *selected("self.warned")
    assert not run_cases(tmp_path, CASES, *arguments).exists()
    recordings = run_cases(tmp_path, CASES, "--strict-verdicts", *arguments)
    done = steertag("replay", recordings / "self.warned.steertag")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "recorded: warn: RFC8166-4.6.1-2: should be err-chunk, saw silence\n" in done.stdout


def test_what_a_target_lacks_is_not_reproducible(tmp_path):
    recordings = run_cases(tmp_path, CASES, *selected("self.over-tcp"))
    with bundled(tmp_path) as url:
        done = steertag("replay", recordings / "self.over-tcp.steertag", "--target", url)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "not-testable: needs tcp" in done.stdout


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


def test_what_comes_back_in_another_layout_is_known_from_before():
    symbols = Symbols()
    before = bytes(52)
    symbols.message(before + b"stateid-1234", before + b"stateid-5678", has_header=True)
    recorded, now = b"stateid-1234" + bytes(24), b"a longer list..!" + b"stateid-5678" + bytes(8)
    symbols.callback(before + recorded, before + now)
    assert symbols.in_octets(b"....stateid-1234") == b"....stateid-5678"


def test_nothing_is_learned_by_place_from_a_message_of_another_length():
    symbols = Symbols()
    before = bytes(52)
    recorded, now = before + b"number: 12345678machine-name", before + b"number: 1234machine-name"
    symbols.message(recorded, now, has_header=True)
    assert symbols.in_octets(b"....machine-name") == b"....machine-name"


def test_what_we_sent_ourselves_is_not_learned():
    symbols = Symbols()
    symbols.in_message(b"our own octets..")
    before = bytes(52)
    symbols.message(before + b"our own octets..", before + b"something else..", has_header=True)
    assert symbols.in_octets(b"our own octets..") == b"our own octets.."


def test_a_recording_is_written_as_it_is_read(failures, tmp_path):
    from steertag.suite.recording.recording_file import write

    recording = read(failures["self.handles"])
    write(tmp_path / "again", recording)
    assert dataclasses.asdict(read(tmp_path / "again")) == dataclasses.asdict(recording)

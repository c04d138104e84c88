"""Sessions of NFS version 4.1 over either transport: one text of a case."""

import json

import pytest
from steertag_command import run_cases, run_suite

from steertag.suite import ANY, TCP

CASES = """
from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import putfh, read

SLOT, CHANNEL = "RFC8881-18.46.3-3", "RFC8881-2.10.3-1"

@case("self.callback", requirements=[SLOT, CHANNEL], needs=["backchannel"], over=ANY)
def test_callback(bench):
    session = bench.nfs4_session(back=True, answers_null=False)
    first = session.conn.callbacks.wait()
    expect.true(first is not None, CHANNEL, "the server tries its backchannel")
    expect.equal(first.header is not None, session.conn.has_header, CHANNEL, "has a header")
    # The reply to a call of ours is not taken for one of the target's, and the other way round.
    expect(session.exchange("PUTROOTFH"), SLOT, must=[kinds.REPLY])
    session.conn.callbacks.answer(first)
    for _ in range(3):
        expect(session.exchange("PUTROOTFH"), SLOT, must=[kinds.REPLY])
    left = session.status_flags
    expect.equal(left, 0, CHANNEL, "flags after the server has its reply")

@case("self.data", requirements=[SLOT], needs=["nfs41"], over=ANY)
def test_data(bench):
    content = bench.random.randbytes(20_000)
    session = bench.nfs4_session()
    handle = bench.nfs4_files(session).file(content)
    call = session.call(putfh(handle), read(20_000))
    session.conn.carry_result(call, 20_000)
    outcome = expect(session.conn.exchange(call), SLOT, must=[kinds.REPLY])
    expect.data(outcome.result["READ"].resok4.data, content, SLOT, "octets of the READ")

@case("self.chunks", requirements=[SLOT], needs=["nfs41"], over=ANY)
def test_chunks(bench):
    bench.need("rdma")
    expect(bench.nfs4_session().exchange("PUTROOTFH"), SLOT, must=[kinds.REPLY])

@case("self.calls-unasked", requirements=[CHANNEL], needs=["nfs41"], over=ANY)
def test_calls_unasked(bench):
    conn = bench.connect(callbacks=True)
    expect.equal(conn.callbacks.wait(bench.deadlines.patience_ms), None, CHANNEL, "a callback")
    expect(conn.probe(), CHANNEL, must=[kinds.REPLY])
"""
# One deviation of each family, the case that catches it, and its requirement.
CAUGHT = {
    "sequence-names-slot-zero": ("server.nfs4.slot.echo-second", "RFC8881-18.46.3-3"),
    "retry-executed": ("server.nfs4.retry.rename-after-loss", "RFC8881-2.10.6.1-4"),
    "failed-reply-forgotten": ("server.nfs4.retry.failed", "RFC8881-2.10.6.4-3"),
    "bind-direction-ignored": ("server.bind.fore-plain", "RFC8881-18.34.3-2"),
    "recall-without-sequence": ("server.reverse.recall", "RFC8881-20.9.3-1"),
}


def rows(report):
    document = json.loads((report / "report.json").read_text())
    return {row["id"]: row for row in document["cases"]}


@pytest.mark.parametrize("over", ANY)
def test_a_case_has_sessions_and_callbacks_over_either_transport(tmp_path, over):
    found = rows(run_cases(tmp_path, CASES, "--over", over).parent)
    verdicts = {case_id: row["verdict"] for case_id, row in found.items()}
    assert verdicts == {
        "self.callback": "pass",
        "self.data": "pass",
        "self.chunks": "not-testable" if over == TCP else "pass",
        "self.calls-unasked": "pass",
    }, found
    if over == TCP:
        assert found["self.chunks"]["reason"].startswith("needs RDMA: ")


@pytest.mark.parametrize("deviation", CAUGHT)
def test_a_deviation_is_caught_over_tcp(tmp_path, deviation):
    case_id, requirement = CAUGHT[deviation]
    recording = run_suite(tmp_path, deviation, case_id, over=TCP)
    row = rows(recording.parents[1])[case_id]
    assert row["verdict"] == "fail" and row["reason"].startswith(f"{requirement}: "), row

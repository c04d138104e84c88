"""RDMA Reads over RoCE that are never answered: the clients beside them are served as before."""

from steertag.suite import case
from steertag.suite.rdma import roce_packets as roce, roce_responses as responses
from steertag.suite.rdma.roce_alterations import DROPPED
from ..chunk_checks import READ_RESULT, write_call
from ..served_beside import expect_transfers, SERVED

STALLED = 8
# Rounds of a client beside them, with a call of each kind.
ROUNDS = 4
DATA = 9001


@case(
    "server.roce.reads-unanswered",
    requirements=[SERVED, *READ_RESULT],
    needs=["bent-packets"],
    hostile=True,
)
def test_reads_unanswered(bench):
    """Eight clients send WRITEs whose data the server has to fetch. No response gets through: each has a wrong CRC. One
    client that was there before gets its replies in time, and one that comes later."""
    content = bench.random.randbytes(DATA)
    handle, written, fetched = bench.file(content), bench.file(), bench.file()
    conn = bench.connect()
    expect_transfers(bench, conn, handle, written, content)
    alterations, _ = DROPPED["crc"]
    lost = responses.bent_response(**alterations)
    stalled = [bench.connect(bent_response=lost) for _ in range(STALLED)]
    for each in stalled:
        each.stop_judging()
        call = write_call(each, fetched, content)
        each.reduce(call)
        each.send(call)
    first = stalled[0]
    asked = first.wait_until(
        lambda: any(one.opcode == roce.READ_REQUEST for one in roce.of_server(first))
    )
    if not asked:
        bench.not_testable("the server does not fetch the data of a WRITE")
    for _ in range(ROUNDS):
        expect_transfers(bench, conn, handle, written, content)
    expect_transfers(bench, bench.connect(), handle, written, content)

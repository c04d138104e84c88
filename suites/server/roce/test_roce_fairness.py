"""Clients over RoCE that stall in the middle of something: those beside them are served as before."""

import contextlib

import pytest

from steertag.suite import case
from steertag.suite.rdma import roce_packets as roce, roce_responses as responses
from steertag.suite.rdma.roce_alterations import DROPPED
from ..chunk_checks import READ_RESULT, write_call
from ..served_beside import DATA, SERVED, ServedClient, STALLED

FIRST = bytes([0x00])  # SEND First


class Stalled:
    """A client that stalls. `shown` is the opcode of a packet of the server by which it is in the middle of it."""

    def __init__(self, conn, shown):
        self.conn, self._shown = conn, shown
        self._start = len(roce.packets(conn))
        conn.stop_judging()

    def has_begun(self):
        """Whether the server is in the middle of it, before an answer is overdue."""

        def shows():
            found = roce.of_server(self.conn, self._start)
            return any(each.opcode == self._shown for each in found)

        return self.conn.wait_until(shows)


def connected_to_fetch(bench):
    """A client whose responses to RDMA Reads do not get through: each has a wrong CRC."""
    alterations, _ = DROPPED["crc"]
    return Stalled(
        bench.connect(bent_response=responses.bent_response(**alterations)), roce.READ_REQUEST
    )


def connected(bench):
    return Stalled(bench.connect(), roce.ACKNOWLEDGE)


def reads_unanswered(bench, conn, handle):
    """Sends a WRITE whose data the server has to fetch."""
    call = write_call(conn, handle, bytes(DATA))
    conn.reduce(call)
    conn.send(call)


def half_a_message(bench, conn, handle):
    """Sends a call that has one packet, which says that it is the first of several."""
    octets = roce.path_mtu(next(each for each in roce.of_client(conn) if each.message == roce.REQ))
    if octets > conn.negotiated.to_server_bytes:
        bench.not_testable("no packet of the path MTU fits the server's receives")
    call = conn.null_call()
    call.append = bytes(octets - len(call.encoded()))
    conn.send(call, fault=roce.bent(patches=[(roce.OPCODE_AT, FIRST)], every_time=True))


STALLS = {
    "reads-unanswered": (connected_to_fetch, reads_unanswered),
    "half-a-message": (connected, half_a_message),
}


@case(
    "server.roce.{stall}",
    requirements=[SERVED, *READ_RESULT],
    needs=["bent-packets"],
    hostile=True,
)
@pytest.mark.parametrize("stall", STALLS)
def test_others(bench, stall):
    """Twelve clients stall. One that was there before gets its replies in time, and one that comes later. The time is a
    multiple of what the same calls took just before."""
    connect, begin = STALLS[stall]
    handle, served = bench.file(), ServedClient(bench)

    @contextlib.contextmanager
    def stalled():
        clients = [connect(bench) for _ in range(STALLED)]
        for each in clients:
            begin(bench, each.conn, handle)
        yield
        if not clients[0].has_begun():
            bench.not_testable("the server does not begin with what stalls")
        for each in clients:
            each.conn.abort()

    served.expect_served_beside(stalled)

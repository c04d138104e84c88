"""Send with Invalidate: if both sides set R, for STags of the call (RFC 8797 3.2, 4.1)."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from ..invalidation_checks import expect_own, OWN, PLAIN

MAY = "RFC8797-4.1-1"
LENGTH = 2048


def announcing(remote_invalidation):
    """Private data with 4096 octets both ways, and this R."""
    return wire.PrivateData(
        remote_invalidation=remote_invalidation, send_bytes=4096, receive_bytes=4096
    )


SET, CLEAR = announcing(True), announcing(False)
# Private data that resembles R without announcing it.
NO_FLAG = {
    "absent": (None, "RFC8797-5.1-1"),
    "reserved-bits": (
        wire.PrivateDataDraft(flags=0xFE, send_size=3, receive_size=3),
        "RFC8797-4-9",
    ),
    "version-two": (
        wire.PrivateDataDraft(version=2, flags=1, send_size=3, receive_size=3),
        "RFC8797-5.1-1",
    ),
    "other-identifier": (
        wire.PrivateDataDraft(identifier=0xF6AB0E19, flags=1, send_size=3, receive_size=3),
        "RFC8797-5.2-2",
    ),
}


class Maker:
    """Makes calls that offer memory in one shape."""

    def __init__(self, bench):
        self.content = bench.random.randbytes(LENGTH)
        self.handle = bench.file(self.content)

    def make(self, conn, shape):
        """The call of this shape."""
        return getattr(self, shape.replace("-", "_"))(conn)

    def _read(self, conn):
        return conn.nfs_call("READ", file=self.handle, offset=0, count=LENGTH)

    def _write(self, conn):
        return conn.nfs_call(
            "WRITE", file=self.handle, offset=0, count=LENGTH, stable=2, data=self.content
        )

    def nothing(self, conn):
        """No STag at all."""
        return conn.nfs_call("GETATTR", object=self.handle)

    def read_chunk(self, conn):
        """One STag to read."""
        call = self._write(conn)
        conn.reduce(call)
        return call

    def write_chunk(self, conn):
        """One STag to write."""
        call = self._read(conn)
        conn.write_chunk(call)
        return call

    def unused_write_chunk(self, conn):
        """One STag that the reply does not use: the READ starts at the end of the file."""
        call = conn.nfs_call("READ", file=self.handle, offset=LENGTH, count=LENGTH)
        conn.write_chunk(call)
        return call

    def reply_chunk(self, conn):
        """One STag for the whole reply."""
        call = self._read(conn)
        conn.reply_chunk(call)
        return call

    def long_call(self, conn):
        """One STag with the call."""
        call = self.nothing(conn)
        conn.long_call(call)
        return call

    def same_stag(self, conn):
        """Four segments with one STag."""
        call = self._read(conn)
        conn.write_chunk(call, sizes=[LENGTH // 4] * 4)
        return call

    def two_stags(self, conn):
        """One STag to read, one to write."""
        call = self._write(conn)
        conn.reduce(call)
        conn.reply_chunk(call)
        return call

    def many_stags(self, conn):
        """A write chunk of four regions."""
        call = self._read(conn)
        offers = [conn.offer(LENGTH // 4, write=True) for _ in range(4)]
        call.add_write_chunk([offer.segment() for offer in offers])
        call.offers += offers
        return call


SHAPES = [
    "nothing",
    "read-chunk",
    "write-chunk",
    "unused-write-chunk",
    "reply-chunk",
    "long-call",
    "same-stag",
    "two-stags",
    "many-stags",
]


def expect_plain(outcome, requirement_id):
    """The reply arrived in a plain Send."""
    expect(outcome, requirement_id, must=[kinds.REPLY])
    expect.true(
        outcome.invalidated is None, requirement_id, "the reply is a plain Send", outcome=outcome
    )


@case("server.remote-invalidation.cleared-{shape}", requirements=[PLAIN])
@pytest.mark.parametrize("shape", SHAPES)
def test_client_clears_r(bench, shape):
    """The client cleared R. The reply is a plain Send for any call."""
    maker = Maker(bench)
    conn = bench.connect(private_data=CLEAR)
    expect_plain(conn.exchange(maker.make(conn, shape)), PLAIN)


@case(
    "server.remote-invalidation.set-{shape}",
    requirements=[PLAIN, OWN],
    needs=["remote-invalidation"],
    bugs=["B29"],
)
@pytest.mark.parametrize("shape", SHAPES)
def test_client_sets_r(bench, shape):
    """The client set R. The reply may invalidate only an STag that the call offered."""
    maker = Maker(bench)
    conn = bench.connect(private_data=SET)
    call = maker.make(conn, shape)
    outcome = expect(conn.exchange(call), OWN, must=[kinds.REPLY])
    expect_own(conn, call, outcome)


@case(
    "server.remote-invalidation.no-flag-{name}",
    requirements=["RFC8797-5.1-1", "RFC8797-5.2-2", "RFC8797-4-9"],
    hostile=True,
)
@pytest.mark.parametrize("name", NO_FLAG)
def test_no_flag(bench, name):
    """Private data without R, or with an R that does not count: only plain Sends."""
    expect_no_invalidation(bench, *NO_FLAG[name])


@case(
    "server.remote-invalidation.no-flag-cut",
    requirements=["RFC8797-5.1-1"],
    needs=["exact-private-data"],
    hostile=True,
)
def test_flag_in_cut_private_data(bench):
    """R in private data that lacks its last octet. A zero behind it would complete it. Only plain
    Sends are legal."""
    expect_no_invalidation(bench, wire.encode(SET)[:7], "RFC8797-5.1-1")


def expect_no_invalidation(bench, private_data, requirement_id):
    maker = Maker(bench)
    conn = bench.connect(private_data=private_data, receive_bytes=4096)
    for shape in ("write-chunk", "read-chunk"):
        expect_plain(conn.exchange(maker.make(conn, shape)), requirement_id)


@case(
    "server.remote-invalidation.hidden-flag",
    requirements=[PLAIN, OWN],
    needs=["remote-invalidation"],
)
def test_flag_at_an_unaligned_offset(bench):
    """R in private data that starts at octet three counts like any other."""
    maker = Maker(bench)
    conn = bench.connect(private_data=b"\xf6\xab\x0e" + wire.encode(SET))
    call = maker.make(conn, "write-chunk")
    outcome = expect(conn.exchange(call), OWN, must=[kinds.REPLY])
    expect_own(conn, call, outcome)


@case(
    "server.remote-invalidation.choice",
    requirements=[MAY],
    needs=["remote-invalidation"],
    tolerates={PLAIN: "asserted by the cases set-*", OWN: "asserted by the cases set-*"},
    unbroken="RFC8797-4.1-1 is a permission: the case only notes the choice.",
)
def test_choice(bench):
    """A server may choose not to invalidate at all. The report names the choice."""
    maker = Maker(bench)
    conn = bench.connect(private_data=SET)
    outcome = expect(conn.exchange(maker.make(conn, "write-chunk")), MAY, must=[kinds.REPLY])
    used = "uses" if outcome.invalidated is not None else "does not use"
    flag = "sets" if conn.negotiated.remote_invalidation else "clears"
    bench.latitude(MAY, f"the server {flag} R and {used} Send with Invalidate")


@case(
    "server.remote-invalidation.earlier-call",
    requirements=[PLAIN, OWN],
    needs=["remote-invalidation"],
)
def test_memory_of_an_earlier_call(bench):
    """Memory of an earlier call stays registered. Later replies, with and without chunks of their
    own, do not invalidate it."""
    maker = Maker(bench)
    conn = bench.connect(private_data=SET)
    kept = maker.make(conn, "unused-write-chunk")
    spare = conn.offer(64, write=True)
    outcome = expect(conn.exchange(kept, keep=True), OWN, must=[kinds.REPLY])
    expect_own(conn, kept, outcome)
    kept_open = [offer for offer in (*kept.offers, spare) if offer.open]
    for shape in ("write-chunk", "nothing", "read-chunk", "reply-chunk"):
        call = maker.make(conn, shape)
        outcome = expect(conn.exchange(call), OWN, must=[kinds.REPLY])
        expect_own(conn, call, outcome)
    still = all(offer.open for offer in kept_open)
    expect.true(still, OWN, "memory of an earlier call stays open", outcome=outcome)


@case(
    "server.remote-invalidation.pipelined",
    requirements=[PLAIN, OWN],
    needs=["remote-invalidation"],
)
def test_pipelined_calls(bench):
    """Calls are outstanding together, each with its own memory. A reply invalidates only memory of
    its own call."""
    maker = Maker(bench)
    conn = bench.connect(private_data=SET)
    shapes = ["write-chunk", "read-chunk", "nothing", "reply-chunk", "write-chunk", "long-call"]
    calls = [maker.make(conn, shape) for shape in shapes[: conn.window]]
    outcomes = conn.collect(calls)
    for call in calls:
        outcome = expect(outcomes[call.xid], OWN, must=[kinds.REPLY])
        expect_own(conn, call, outcome)


def stale_read(conn, maker):
    """A READ of a handle that the server never issued."""
    handle = bytes(byte ^ 0xA5 for byte in maker.handle)
    call = conn.nfs_call("READ", file=handle, offset=0, count=LENGTH)
    conn.write_chunk(call)
    return call


def unknown_program(conn, maker):
    """A call of an RPC program that does not exist."""
    call = conn.rpc_call(0x2000FFFF, 1, 0)
    conn.write_chunk(call, LENGTH)
    return call


def unknown_procedure(conn, maker):
    """A call with an unknown rdma_proc."""
    call = maker.make(conn, "write-chunk")
    call.proc = 5
    return call


ERRORS = {"nfs": stale_read, "rpc": unknown_program, "transport": unknown_procedure}


@case(
    "server.remote-invalidation.{flag}-error-{name}",
    requirements=[PLAIN, OWN],
    needs=["remote-invalidation"],
    hostile=True,
)
@pytest.mark.parametrize("flag", ["set", "cleared"])
@pytest.mark.parametrize("name", ERRORS)
def test_errors(bench, name, flag):
    """The call ends in an error. The same rules apply to the message that reports it."""
    maker = Maker(bench)
    conn = bench.connect(private_data=SET if flag == "set" else CLEAR)
    call = ERRORS[name](conn, maker)
    outcome = conn.exchange(call)
    answered = outcome.kind not in kinds.UNANSWERED
    expect.true(answered, OWN, "the call is answered", outcome=outcome)
    expect_own(conn, call, outcome)


@case(
    "server.remote-invalidation.reconnect",
    requirements=[PLAIN, OWN, "RFC8797-4-1"],
    needs=["remote-invalidation"],
)
def test_reconnect_without_r(bench):
    """R is set, cleared and set again on new connections. Each follows its own private data."""
    maker = Maker(bench)
    for announced in (SET, CLEAR, SET):
        conn = bench.connect(private_data=announced)
        call = maker.make(conn, "write-chunk")
        outcome = expect(conn.exchange(call), "RFC8797-4-1", must=[kinds.REPLY])
        if announced is CLEAR:
            expect_plain(outcome, "RFC8797-4-1")
        expect_own(conn, call, outcome)
        conn.close()


@case(
    "server.remote-invalidation.connections-beside",
    requirements=[PLAIN, OWN],
    needs=["remote-invalidation"],
)
def test_connections_beside_each_other(bench):
    """A connection with R and one without, at the same time: each keeps to its own rule."""
    maker = Maker(bench)
    conns = [bench.connect(private_data=SET), bench.connect(private_data=CLEAR)]
    for _ in range(3):
        for conn in conns:
            call = maker.make(conn, "write-chunk")
            outcome = expect(conn.exchange(call), OWN, must=[kinds.REPLY])
            if conn is conns[1]:
                expect_plain(outcome, PLAIN)
            expect_own(conn, call, outcome)

"""XIDs: echoed unchanged for any value, one answer for each (RFC 8166 4.2.1, RFC 5531 9).

A reply over RDMA has the XID in two places, one over TCP in one."""

import pytest

from steertag import rpc, wire
from steertag.suite import ANY, case, expect, kinds
from ..chunk_checks import expect_alive
from ..message_words import either, expect_one_xid, with_word, words
from ..proofs import ONE_XID, expect_reply_unless, takes_two_calls

OWN = "RFC5531-9-1"
ECHO = ("RFC8166-4-1", "RFC8166-4.2.1-1", "RFC8166-4.2.2-1", OWN)
MATCH = "RFC8166-4.2.1-1"
DIFFERS = "RFC8166-4.5.2-4"
ONCE = "RFC8166-3.3.1-11"
XIDS = {
    "zero": 0,
    "one": 1,
    "ascending": 0x01020304,
    "descending": 0x04030201,
    "sign": 0x80000000,
    "largest-positive": 0x7FFFFFFF,
    "largest": 0xFFFFFFFF,
}
HEADER_ONLY = {kinds.REPLY: "the header's XID alone is used (RFC 8166 4.2.1)"}
RETRANSMISSION = "the second is taken for a retransmission of the first (RFC 5531 9)"
# Calls in flight at once, as far as the grant allows.
PIPELINE = 8


def swapped(xid):
    """The XID in the other octet order."""
    return int.from_bytes(xid.to_bytes(4, "big"), "little")


def expect_echo(outcome, call):
    """A reply that starts with the call's XID and version 1. The RPC message starts with the XID
    again. Over TCP there is only the RPC message."""
    if not outcome.conn.has_header:
        expect_reply_to(outcome, call)
        return
    if len(outcome.raw) < 28:
        expect(outcome, MATCH, must=[kinds.REPLY])
    xid, vers = words(outcome.raw)[:2]
    if swapped(call.xid) != call.xid:
        in_order = xid != swapped(call.xid)
        expect.true(in_order, "RFC8166-4-1", "rdma_xid is in network order", outcome=outcome)
    expect.equal(xid, call.xid, MATCH, "rdma_xid of the reply", show=False, outcome=outcome)
    expect.equal(vers, 1, "RFC8166-4.2.2-1", "rdma_vers of the reply", outcome=outcome)
    # A header without chunks has seven words.
    rpc_xid = words(outcome.raw)[7]
    expect.equal(rpc_xid, xid, MATCH, "XID of the RPC reply", show=False, outcome=outcome)
    expect(outcome, OWN, must=[kinds.REPLY])


def expect_reply_to(outcome, call):
    """A reply in a record, with the call's XID."""
    if swapped(call.xid) != call.xid:
        in_order = outcome.xid != swapped(call.xid)
        expect.true(in_order, OWN, "the XID is in network order", outcome=outcome)
    expect.equal(outcome.xid, call.xid, OWN, "XID of the RPC reply", show=False, outcome=outcome)
    expect(outcome, OWN, must=[kinds.REPLY])


@case("server.xid.value-{name}", requirements=ECHO, over=ANY)
@pytest.mark.parametrize("name", XIDS)
def test_value(bench, name):
    """A NULL call with a particular XID: no value is special, and the octets keep their order."""
    conn = bench.connect()
    call = conn.rpc_call(100003, 3, 0, xid=XIDS[name])
    expect_echo(conn.exchange(call), call)


@case("server.xid.first-{name}", requirements=ECHO, over=ANY)
@pytest.mark.parametrize("name", ["zero", "largest"])
def test_first(bench, name):
    """The first XID of a connection may be 0 or 2^32 - 1."""
    conn = bench.connect(greet=False)
    call = conn.rpc_call(100003, 3, 0, xid=XIDS[name])
    expect_echo(conn.exchange(call), call)


@case("server.xid.falling", requirements=ECHO, over=ANY)
def test_falling(bench):
    """XIDs decrease past zero, in flight together. Their order has no meaning."""
    conn = bench.connect()
    numbers = [(4 - i) & 0xFFFFFFFF for i in range(min(PIPELINE, conn.window))]
    calls = [conn.rpc_call(100003, 3, 0, xid=xid) for xid in numbers]
    outcomes = conn.collect(calls)
    for call in calls:
        expect_echo(outcomes[call.xid], call)


@case("server.xid.used-again", requirements=ECHO, over=ANY)
def test_used_again(bench):
    """NULL calls one after the other with the same XID, each after the reply to the last."""
    conn = bench.connect()
    xid = conn.next_xid()
    for _ in range(3):
        call = conn.rpc_call(100003, 3, 0, xid=xid)
        expect_echo(conn.exchange(call), call)


@case("server.xid.one-reply-each", requirements=[*ECHO, ONCE], over=ANY)
def test_one_reply_each(bench):
    """Calls one after the other: each gets its reply, and no other message arrives."""
    conn = bench.connect()
    for _ in range(PIPELINE):
        call = conn.null_call()
        outcome = conn.exchange(call)
        own = outcome.xid is None or outcome.xid == call.xid
        repeated = not own and outcome.raw[4:8] == b"\0\0\0\1" and outcome.xid == call.xid - 1
        once = either(conn, ONCE, OWN)
        expect.true(not repeated, once, "one reply for each call", outcome=outcome)
        expect_echo(outcome, call)


@case("server.xid.pipelined-content", requirements=[MATCH, OWN], over=ANY)
def test_pipelined_content(bench):
    """READ calls for different octets are in flight together. Each reply has the octets of the call
    with its XID."""
    content = bench.random.randbytes(64 * PIPELINE)
    handle = bench.file(content)
    conn = bench.connect()
    calls = [
        conn.nfs_call("READ", file=handle, offset=64 * i, count=64)
        for i in range(min(PIPELINE, conn.window))
    ]
    outcomes = conn.collect(calls)
    match = either(conn, MATCH, OWN)
    for i, call in enumerate(calls):
        outcome = expect(outcomes[call.xid], match, must=[kinds.REPLY])
        octets = outcome.result.ok.data
        expect.data(octets, content[64 * i : 64 * i + 64], match, "octets under this XID")


@case("server.xid.beside-a-pull", requirements=[MATCH])
def test_beside_a_pull(bench):
    """NULL calls follow a WRITE whose data the server has to pull first. Replies may arrive in any
    order. Each has the XID of its own call in both places."""
    content = bench.random.randbytes(65536)
    handle = bench.file()
    conn = bench.connect()
    call = conn.nfs_call("WRITE", file=handle, offset=0, count=65536, stable=2, data=content)
    conn.reduce(call)
    calls = [call, *(conn.null_call() for _ in range(min(3, conn.grant - 1)))]
    for each in calls:
        conn.send(each)
    missing = {each.xid for each in calls}
    for _ in calls:
        message = conn.receive()
        if message is None:
            expect(conn.await_outcome(calls[-1]), MATCH, must=[kinds.REPLY])
        came = message.xid in missing
        expect.true(came, MATCH, "each reply carries the XID of a call that waits")
        missing.remove(message.xid)
        is_reply = len(message.bytes) >= 32 and words(message.bytes)[3] == wire.Procedure.MSG
        expect.true(is_reply, MATCH, "each call has an RDMA_MSG for a reply")
        rpc_xid = int.from_bytes(wire.decode(message.bytes)[1][:4], "big")
        expect.equal(rpc_xid, message.xid, MATCH, "XID of the RPC reply", show=False)
    for offer in call.offers:
        offer.close()
    expect.data(bench.read_back(handle), content, MATCH, "content of the file")


@case("server.xid.differs-{name}", requirements=[DIFFERS, MATCH], hostile=True)
@pytest.mark.parametrize("name", ["by-one", "swapped", "zero-header", "zero-rpc"])
def test_differs(bench, name):
    """The header's XID is not that of the RPC call. The answer is ERR_CHUNK with the header's, or a
    reply if the server uses only the header's. Such a reply has the header's XID twice."""
    conn = bench.connect()
    call = conn.null_call()
    if name == "zero-rpc":
        call.payload = with_word(bytes(call.payload), 0, 0)
    else:
        call.xid = {"by-one": call.xid ^ 1, "swapped": swapped(call.xid), "zero-header": 0}[name]
    outcome = expect(conn.exchange(call), DIFFERS, must=[kinds.ERR_CHUNK], latitude=HEADER_ONLY)
    xid = outcome.header.xid
    expect.equal(xid, call.xid, MATCH, "rdma_xid of the answer", show=False, outcome=outcome)
    expect_one_xid(outcome, MATCH)
    expect_alive(conn, DIFFERS)


@case("server.xid.differs-pipelined", requirements=[DIFFERS, MATCH], hostile=True)
def test_differs_pipelined(bench):
    """A header's XID belongs to another call in flight. That call still has its own answer."""
    conn = bench.connect()
    call, other = conn.null_call(), conn.nfs_call("GETATTR", object=bench.root)
    call.payload = with_word(bytes(call.payload), 0, other.xid)
    outcomes = conn.collect([call, other])
    answer = expect(outcomes[call.xid], DIFFERS, must=[kinds.ERR_CHUNK], latitude=HEADER_ONLY)
    expect_one_xid(answer, MATCH)
    outcome = expect(outcomes[other.xid], MATCH, must=[kinds.REPLY])
    expect.equal(outcome.result.ok.obj_attributes.type.name, "NF3DIR", MATCH, "type of the root")


@case("server.xid.twice-outstanding-{name}", requirements=[*ECHO], hostile=True, over=ANY)
@pytest.mark.parametrize("name", ["same-call", "other-call"])
def test_twice_outstanding(bench, name):
    """Two calls with one XID are in flight. Both are answered in any order, or the server treats the second as a
    retransmission, or it closes the connection."""
    root = bench.root
    conn = bench.connect()
    first = conn.null_call()
    second = conn.rpc_call(100003, 3, 0, xid=first.xid)
    if name == "other-call":
        second = conn.nfs_call("GETATTR", object=root, xid=first.xid)
    conn.send(first)
    conn.send(second)
    silent = False
    for is_last in (False, True):
        answer = conn.await_either(first, second)
        if answer.kind in kinds.CLOSED:
            expect_reply_unless(answer, OWN, ONE_XID, lambda: takes_two_calls(bench))
        elif answer.kind == kinds.SILENCE and is_last:
            silent = True
        else:
            expect_this_xid(answer, first)
    if silent:
        expect_taken_for_retransmission(bench, conn, second)
    expect_alive(conn, OWN)


def expect_taken_for_retransmission(bench, conn, call):
    """The call was silent because of its XID: under another one it is answered."""
    alone = conn.rpc_call(*call.asked, xid=conn.next_xid())
    header, arguments = rpc.Call.decode(bytes(call.payload))
    header.xid = alone.xid
    alone.payload = header.encode(arguments)
    expect(conn.exchange(alone), OWN, must=[kinds.REPLY])
    bench.latitude(OWN, RETRANSMISSION)


def expect_this_xid(outcome, call):
    """An answer with this XID: in both places over RDMA, in the only one over TCP. It may be for
    either call."""
    if not outcome.conn.has_header:
        expect_reply_to(outcome, call)
        return
    if len(outcome.raw) < 32:
        expect(outcome, OWN, must=[kinds.REPLY])
    xids = words(outcome.raw)[0], words(outcome.raw)[7]
    wanted = call.xid, call.xid
    expect.equal(xids, wanted, MATCH, "XIDs of a reply", show=False, outcome=outcome)


@case("server.xid.two-connections", requirements=ECHO, over=ANY)
def test_two_connections(bench):
    """The same XID for different calls on two connections at once: each gets its own reply."""
    root = bench.root
    one, two = bench.connect(), bench.connect()
    first = one.null_call()
    second = two.nfs_call("GETATTR", object=root, xid=first.xid)
    one.send(first)
    two.send(second)
    other = expect(two.await_outcome(second), OWN, must=[kinds.REPLY])
    expect_echo(one.await_outcome(first), first)
    expect_echo(other, second)
    kind = other.result.ok.obj_attributes.type.name
    expect.equal(kind, "NF3DIR", OWN, "type of the root")

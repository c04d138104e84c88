"""Replies with other chunks than the call's: only what was placed may be taken for data."""

import pytest

from steertag import mutate, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import has_reply_chunk, is_plain, is_read, is_write, Script
from ..asked_again import AskedAgain
from ..client_verdicts import expect_or, speaks_nfs3
from ..long_replies import fits_reply_chunk, long_form
from ..short_read import cut, parted, placed, shortened

# So many octets, which need roundup, fit into any reply.
SHORT_READ_BYTES = 503
# Also by discarding the reply for the error in its header (RFC 8166 4.5), and taking the next.
AGAIN = "the user got the right octets all the same"


def _first(draft):
    return draft.write_list[0]


# The chunk that comes back, or what comes back beside it.
MUTATIONS = {
    "length-minus-one": "write-chunk.length-minus-1",
    "length-halved": "write-chunk.length-halved",
    "length-zero": "write-chunk.length-0",
    "length-plus-one": "write-chunk.length-plus-1",
    "length-doubled": "write-chunk.length-doubled",
    "length-largest": "write-chunk.length-0xffffffff",
    "lengths-wrap": "write-chunk.lengths-wrap",
    "handle-other": "write-list.handles-differ",
    "handle-zero": "write-chunk.handle-0",
    "offset-plus-one": "write-chunk.offset-plus-1",
    "offset-zero": "write-list.offsets-0",
    "offset-largest": "write-chunk.offset-all-ones",
    "segment-dropped": "write-chunk.last-segment-dropped",
    "segment-added": "write-chunk.last-segment-doubled",
    "segment-split": "write-chunk.last-segment-split",
    "chunk-dropped": "write-list.absent",
    "chunk-added": "write-list.doubled",
    "reply-chunk-invented": "reply-chunk.invented",
}


@pytest.mark.parametrize("name", MUTATIONS)
@case("client.chunks.{name}", requirements=["RFC8166-3.4.3-2"], hostile=True)
def test_returned_chunk(bench, name):
    """All data of a READ are placed. The chunk that comes back is not the one of the call, or has
    another length than the result. The call fails, or the data are right. No document says what a
    requester does with a wrong echo, so that a case judges only harm by other clients. The reply as
    it should be follows."""

    def interpose(reply):
        reply.push()
        reply.send_mutated(MUTATIONS[name])
        reply.send()

    outcome = bench.use(reply=interpose, when=is_read)
    expect_or(bench, outcome, "RFC8166-3.4.3-2", kinds.REFUSED, {kinds.COMPLETED: AGAIN})


@pytest.mark.parametrize("octets", [0, 1, 1024, 16384])
@case("client.chunks.placed-{octets}", requirements=["RFC8166-3.4.6.1-1"], hostile=True)
def test_placed_less(bench, octets):
    """Only so many octets are placed and the chunk says so, but the READ's count says that there
    are more. What the segments hold is the whole result, and the rest of the memory is no data. A
    client that discards the reply gets another when it is quiet."""
    interposed = []

    def interpose(reply):
        draft = reply.draft()
        filled = wire.DraftChunk(segments=parted(_first(draft).segments, octets)[0])
        draft.write_list = [filled, *draft.write_list[1:]]
        interposed.append(reply)
        reply.push(cut(reply.writes, octets))
        reply.send(draft)

    def quiet():
        if interposed and interposed[0].raw.up and not interposed[0].offered_again:
            interposed.pop().conform()

    outcome = bench.use(reply=interpose, when=is_read, quiet=quiet)
    again = "it read the rest, or all of it, again, or took the next reply"
    expect_or(bench, outcome, "RFC8166-3.4.6.1-1", kinds.REFUSED, {kinds.COMPLETED: again})


class Inline(Script):
    """Puts the data of one READ inline into the reply, right but no more than fit, and leaves its write
    chunk unused."""

    def __init__(self):
        self._data = b""
        self.again = False  # another call has brought the same

    @property
    def waits(self):
        return not self._data

    def on_departure(self, reply):
        if reply.kind != "reply":
            return False
        if self._data:
            self.again |= self._data in bytes(reply.message) + placed(reply)
            return False
        short = shortened(reply, SHORT_READ_BYTES) if is_read(reply) else None
        if short is None:
            return False
        payload, self._data = short
        draft = reply.mutated("write-list.unused")
        draft.payload = payload + self._data + bytes(-len(self._data) % 4)
        reply.send(draft)
        return True


@case("client.chunks.inline-despite-chunk", requirements=["RFC8166-6.1-6"], hostile=True)
def test_inline(bench):
    """The data of a READ come inline although there is a write chunk for them: a permanent error of the
    call. Another call may ask for the same."""
    script = Inline()
    outcome = bench.use(script)
    again = "it read the same by another call"
    expect_or(bench, outcome, "RFC8166-6.1-6", kinds.REFUSED, {kinds.COMPLETED: again})
    ended = outcome.kind not in kinds.DONE or script.again
    expect.true(ended, "RFC8166-6.1-6", "the reply ends the call", outcome=outcome)


@pytest.mark.parametrize("call_kind, when", [("plain", is_plain), ("write", is_write)])
@pytest.mark.parametrize("list_", ["write-list", "reply-chunk"])
@case("client.chunks.unasked-{list_}.{call_kind}", requirements=["RFC8166-3.4.3-2"], hostile=True)
def test_unasked(bench, call_kind, when, list_):
    """A reply brings a chunk although the call has offered none of the kind. The chunk names memory
    that no side has registered."""

    def interpose(reply):
        reply.send_mutated(f"{list_}.invented")
        reply.conform()

    script = AskedAgain(interpose, when)
    outcome = bench.use(script)
    expect_or(bench, outcome, "RFC8166-3.4.3-2", kinds.REFUSED, script.completed())


@pytest.mark.parametrize("call_kind, when", [("plain", is_plain), ("read", is_read)])
@case("client.chunks.nomsg-unasked.{call_kind}", requirements=["RFC8166-4.5-3"], hostile=True)
def test_nomsg(bench, call_kind, when):
    """RDMA_NOMSG with a reply chunk that the call has not offered: there is nothing to take the RPC
    message from."""

    def interpose(reply):
        if reply.call.reply_chunk:
            bench.not_testable("the call offers a reply chunk")
        reply.send_mutated("procedure.1", "payload.octets-0", "reply-chunk.invented")
        reply.conform()

    outcome = bench.use(reply=interpose, when=when)
    refused = "it ends the call whose reply is of no use"
    expect_or(bench, outcome, "RFC8166-4.5-3", kinds.COMPLETED, {kinds.REFUSED: refused})


LONG_MUTATIONS = {
    "length-zero": "reply-chunk.length-0",
    "length-minus-one": "reply-chunk.length-minus-1",
    "length-halved": "reply-chunk.length-halved",
    "length-plus-one": "reply-chunk.length-plus-1",
    "length-doubled": "reply-chunk.length-doubled",
    "length-largest": "reply-chunk.length-0xffffffff",
    "lengths-wrap": "reply-chunk.lengths-wrap",
    "handle-other": "reply-chunk.handle-plus-1",
    "offset-plus-four": "reply-chunk.offset-plus-4",
}
# Our own client goes by the RPC message in the chunk if there is no less than that. It reads the results of NFSv3 to
# their end, and discards a reply without octets.
TAKEN, TAKEN_UNLESS_NFS3 = ("length-zero",), ("length-plus-one", "length-doubled")


def send_long(bench, reply, mutation):
    """Puts the reply into the reply chunk, and sends that with this mutation. The reply as it should be follows."""
    if not fits_reply_chunk(reply):
        bench.not_testable("the reply does not fit the reply chunk")
    reply.send(mutate.mutated(long_form(reply), mutation))
    reply.conform()


@pytest.mark.parametrize("name", LONG_MUTATIONS)
@case(
    "client.chunks.long-reply.{name}",
    requirements=["RFC8166-3.4.3-2"],
    needs=["client-reply-chunks"],
    hostile=True,
)
def test_long_reply(bench, name):
    """The reply goes into the reply chunk. The chunk that comes back is not that of the call, or has another length
    than the reply."""
    script = AskedAgain(
        lambda reply: send_long(bench, reply, LONG_MUTATIONS[name]), has_reply_chunk
    )
    outcome = bench.use(script)
    taken = name in TAKEN or name in TAKEN_UNLESS_NFS3 and not speaks_nfs3(bench)
    ours = kinds.COMPLETED if taken else kinds.REFUSED
    expect_or(bench, outcome, "RFC8166-3.4.3-2", kinds.REFUSED, script.completed(), ours)


SHARED_MUTATIONS = ("length-halved", "lengths-wrap")


@pytest.mark.parametrize("name", SHARED_MUTATIONS)
@case(
    "client.chunks.shared-reply.{name}",
    requirements=["RFC8166-3.4.3-2"],
    needs=["client-reply-chunks"],
    hostile=True,
)
def test_shared_reply(bench, name):
    """The same where the reply fills several segments. Our own client offers sixteen with each call."""

    def takes_several(reply):
        return has_reply_chunk(reply) and len(reply.payload) > reply.call.reply_chunk[0].length

    script = AskedAgain(lambda reply: send_long(bench, reply, LONG_MUTATIONS[name]), takes_several)
    outcome = bench.use(script, own=["--reply-chunks"])
    expect_or(bench, outcome, "RFC8166-3.4.3-2", kinds.REFUSED, script.completed())

"""Replies that have moved something into a write chunk that is no DDP-eligible result."""

from steertag import wire
from steertag.suite import case, client_kinds as kinds
from steertag.suite.client.script import is_read, NFS
from ..call_kinds import words
from ..client_verdicts import completes, expect_or
from ..long_replies import fits_reply_chunk, long_form

FILLED = "RFC8166-4.3.2.1-1"
READ = 25  # OP_READ
END = words(1)  # eof
RPC_OCTETS = 24


def _shows_end(reply):
    """The reply to a READ that shows the end of the file, with some octets before it in its chunk."""
    payload = bytes(reply.message)
    in_place = reply.procedure == (NFS, 3, 6) or payload[-16:-8] == words(READ, 0)
    return is_read(reply) and in_place and payload[-8:-4] == END and payload[-4:] != words(0)


@case(
    "client.reduction.beside-empty-result",
    requirements=["RFC8166-6.1-5"],
    needs=["client-write-chunks"],
    hostile=True,
)
def test_empty_result(bench):
    """The last READ of a file has no octets, so it says, but its write chunk comes back with some: other
    results were moved there. The call fails for good. Who takes the reply has a file that is too short.
    """

    def interpose(reply):
        draft = reply.draft()
        payload = bytes(draft.payload)
        if reply.procedure == (NFS, 3, 6):
            draft.payload = payload[:-12] + words(0) + END + words(0)
        else:
            draft.payload = payload[:-8] + END + words(0)
        target = reply.call.write_list[0][0]
        moved = payload[RPC_OCTETS:][: target.length]
        reply.raw.write(moved, target.handle, target.offset)
        lengths = [len(moved)] + [0] * (len(reply.call.write_list[0]) - 1)
        draft.write_list = [
            wire.DraftChunk(
                segments=[
                    wire.Segment(handle=segment.handle, length=length, offset=segment.offset)
                    for segment, length in zip(reply.call.write_list[0], lengths)
                ]
            )
        ]
        reply.send(draft)

    outcome = bench.use(reply=interpose, when=_shows_end, server={"inline_bytes": 1024})
    again = "it read the same again"
    expect_or(bench, outcome, "RFC8166-6.1-5", kinds.REFUSED, {kinds.COMPLETED: again})


@case(
    "client.reduction.in-long-reply",
    requirements=[FILLED],
    needs=["client-write-chunks", "client-reply-chunks"],
)
def test_long_reply(bench):
    """The data of a READ are in its write chunk, and what is left of the reply is in its reply chunk."""

    def may_be_long(reply):
        return is_read(reply) and bool(reply.writes) and fits_reply_chunk(reply)

    def interpose(reply):
        reply.push()
        reply.send(long_form(reply), invalidate=reply.invalidate)

    outcome = bench.use(reply=interpose, when=may_be_long, times=None, own=["--reply-chunks"])
    completes(outcome, FILLED)

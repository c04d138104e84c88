"""Send with Invalidate: of the call's own STags where both have agreed, and of others unasked."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import ERR_CHUNK, has_reply_chunk, is_read, is_write, Script
from ..call_kinds import CALL_KINDS
from ..client_verdicts import expect_or, LOST

KINDS = {"write-chunk": is_read, "read-chunk": is_write, "reply-chunk": has_reply_chunk}


@pytest.mark.parametrize("name", KINDS)
@case(
    "client.invalidation.legal.{name}",
    requirements=["RFC8797-3.2-2"],
    needs=["client-invalidation"],
    unbroken="RFC8797-3.2-2: a client that cannot take it completes with no server of ours.",
)
def test_legal(bench, name):
    """Every reply of a kind closes an STag of its call: a client that announces remote invalidation
    takes it for any."""

    def interpose(reply):
        reply.push()
        reply.send(invalidate=reply.stags[0])

    outcome = bench.use(reply=interpose, when=KINDS[name], times=None)
    expect(outcome, "RFC8797-3.2-2", must=[kinds.COMPLETED])


@pytest.mark.parametrize("name", KINDS)
@case(
    "client.invalidation.none.{name}",
    requirements=["RFC8166-1-1"],
    needs=["client-invalidation"],
    unfailed={
        f"client.invalidation.none.{name}": "A call that ends otherwise breaks a row of its own."
        for name in KINDS
    },
)
def test_none(bench, name):
    """A server may do without it although both could: the client closes its memory itself."""

    def interpose(reply):
        reply.push()
        reply.send()

    outcome = bench.use(reply=interpose, when=KINDS[name], times=None)
    expect(outcome, "RFC8166-1-1", must=[kinds.COMPLETED])


@pytest.mark.parametrize("name", ["write-chunk", "read-chunk"])
@case(
    "client.invalidation.server-flag-clear.{name}",
    requirements=["RFC8166-4.5.5-1"],
    hostile=True,
)
def test_unannounced(bench, name):
    """The server's own flag is clear and it invalidates all the same: at worst the connection ends, and
    what went with it is made again."""

    def interpose(reply):
        reply.push()
        reply.send(invalidate=reply.stags[0])

    outcome = bench.use(reply=interpose, when=KINDS[name], server={"remote_invalidation": False})
    expect_or(bench, outcome, "RFC8166-4.5.5-1", kinds.COMPLETED, {kinds.REFUSED: LOST})


FOREIGN = {
    "no-memory": lambda stag: stag ^ 0x5A5A5A00,
    "other-generation": lambda stag: stag ^ 1,
    "zero": lambda stag: 0,
}


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@pytest.mark.parametrize("name", FOREIGN)
@case(
    "client.invalidation.foreign.{name}.{call_kind}",
    requirements=["RFC8166-8.1.1-1"],
    hostile=True,
    unbroken="RFC8166-8.1.1-1: the provider of the memory's owner refuses.",
)
def test_foreign(bench, name, call_kind):
    """A reply invalidates an STag of no memory of the client. The connection ends, and the call is
    made again."""

    def interpose(reply):
        own = reply.stags
        reply.push()
        reply.send(invalidate=FOREIGN[name](own[0] if own else 0x7E570000))

    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind])
    expect_or(bench, outcome, "RFC8166-8.1.1-1", kinds.COMPLETED, {kinds.REFUSED: LOST})


@case(
    "client.invalidation.twice",
    requirements=["RFC8797-3.2-2"],
    hostile=True,
    unbroken="RFC8797-3.2-2: a client that cannot take it completes with no server of ours.",
)
def test_twice(bench):
    """An STag that a reply has closed is closed again by the next reply."""
    first = []

    class Twice(Script):
        waits = True

        def on_departure(self, reply):
            if reply.kind == "callback":
                return False
            if not first and is_read(reply):
                first.append(reply.stags[0])
                reply.push()
                reply.send(invalidate=first[0])
                return True
            if len(first) == 1:
                first.append(None)
                self.waits = False
                reply.push()
                reply.send(invalidate=first[0])
                return True
            return False

    outcome = bench.use(Twice())
    expect_or(bench, outcome, "RFC8797-3.2-2", kinds.COMPLETED, {kinds.REFUSED: LOST})


@case(
    "client.invalidation.of-other-call",
    requirements=["RFC8166-4.5.5-1"],
    needs=["client-pipelining", "client-write-chunks"],
    hostile=True,
)
def test_other_call(bench):
    """A reply closes the memory of another call that is under way: that one loses its connection, or
    its data, and is made again."""
    held = []

    class Other(Script):
        waits = True

        def on_departure(self, reply):
            if reply.kind == "callback" or not is_read(reply) or not self.waits:
                return False
            held.append(reply)
            if len(held) == 2:
                self.waits = False
                held[0].push()
                held[0].send(invalidate=held[1].stags[0])
                held[1].conform()
            return True

        def on_quiet(self):
            if self.waits:
                for reply in held:
                    reply.conform_late()
                held.clear()

    outcome = bench.use(Other())
    expect_or(bench, outcome, "RFC8166-4.5.5-1", kinds.COMPLETED, {kinds.REFUSED: LOST})


@pytest.mark.parametrize("call_kind", ["read", "write"])
@case("client.invalidation.in-error.{call_kind}", requirements=["RFC8166-4.5-8"], hostile=True)
def test_in_error(bench, call_kind):
    """An RDMA_ERROR closes the memory of its call, which is over then."""

    def interpose(reply):
        reply.send_mutated(ERR_CHUNK, invalidate=reply.stags[0])

    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind])
    again = "it did the same by another call"
    expect_or(bench, outcome, "RFC8166-4.5-8", kinds.REFUSED, {kinds.COMPLETED: again})


@case(
    "client.invalidation.in-discarded-message",
    requirements=["RFC8166-4.5-3"],
    needs=["client-invalidation"],
    hostile=True,
)
def test_in_discarded(bench):
    """A message that must be discarded closes the memory of a READ, because the adapter does so for
    any message. The data cannot be placed any more, and the client takes nothing else for them."""

    def interpose(reply):
        reply.send_mutated("version.9", invalidate=reply.stags[0])
        reply.push()
        reply.send()

    outcome = bench.use(reply=interpose, when=is_read)
    expect_or(bench, outcome, "RFC8166-4.5-3", kinds.COMPLETED, {kinds.REFUSED: LOST})

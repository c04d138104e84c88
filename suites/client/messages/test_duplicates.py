"""Replies that come twice or late: the call is over, and its memory closed."""

import pytest

from steertag.suite import case, client_kinds as kinds
from steertag.suite.client.script import is_read, is_write, Script
from ..call_kinds import CALL_KINDS
from ..client_verdicts import completes, completes_unless_starved, expect_or, LOST


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.duplicate.{call_kind}", requirements=["RFC8167-2.4-1"], hostile=True)
def test_twice(bench, call_kind):
    """The Send of a reply comes twice: the second answers nothing."""

    def interpose(reply):
        reply.conform()
        reply.send()

    completes(bench.use(reply=interpose, when=CALL_KINDS[call_kind]), "RFC8167-2.4-1")


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case(
    "client.duplicate.always.{call_kind}",
    requirements=["RFC8167-2.4-1"],
    bugs=["B80"],
    hostile=True,
)
def test_always_twice(bench, call_kind):
    """Every reply of a kind is sent twice, and the client goes on. Where no receive is left for the
    second (RFC 8166 3.3.1), the connection may end each time. Then the client may give up, or go on
    trying."""

    def interpose(reply):
        reply.conform()
        reply.send()

    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind], times=None)
    completes_unless_starved(bench, outcome, "RFC8167-2.4-1")


class Late(Script):
    """Sends the first reply of a kind again behind a later one."""

    def __init__(self, when, behind, writes):
        self._when, self._behind, self._writes = when, behind, writes
        self._first = None
        self._seen = 0
        self.waits = True

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        if self._first is None:
            if self._when(reply):
                self._first = reply
            return False
        self._seen += 1
        if self._seen != self._behind:
            return False
        self.waits = False
        reply.conform()
        if self._first.raw.up:
            if self._writes and not self._first.offered_again:
                self._first.push()
            self._first.send()
        return True


@pytest.mark.parametrize("behind", [1, 2, 4])
@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case(
    "client.late.{call_kind}.behind-{behind}",
    requirements=["RFC8167-2.4-1"],
    bugs=["B78"],
    hostile=True,
)
def test_late(bench, call_kind, behind):
    """A reply is repeated behind replies to later calls: no call has its XID any more."""
    completes(bench.use(Late(CALL_KINDS[call_kind], behind, writes=False)), "RFC8167-2.4-1")


@pytest.mark.parametrize("behind", [1, 3])
@case(
    "client.late.with-writes.behind-{behind}",
    requirements=["RFC8166-4.4.1-1"],
    hostile=True,
    unbroken="RFC8166-4.4.1-1: memory-left-open breaks RFC8166-8.1-1 for the same memory.",
)
def test_late_writes(bench, behind):
    """The RDMA Writes of a READ are repeated with its reply, after the call. Its memory is closed,
    so that the connection ends, and what was read stays right."""
    outcome = bench.use(Late(is_read, behind, writes=True))
    expect_or(bench, outcome, "RFC8166-4.4.1-1", kinds.COMPLETED, {kinds.REFUSED: LOST})


@case("client.late.write-then-read", requirements=["RFC8167-2.4-1"], hostile=True)
def test_order(bench):
    """The reply to the first WRITE is kept until the client is quiet: replies may overtake each other."""
    held = []

    def quiet():
        for reply in held:
            reply.conform_late()
        held.clear()

    completes(bench.use(reply=held.append, when=is_write, quiet=quiet), "RFC8167-2.4-1")


@case(
    "client.late.reversed-order",
    requirements=["RFC8167-2.4-1"],
    needs=["client-pipelining"],
    hostile=True,
)
def test_reversed(bench):
    """The replies to READs come in the opposite order of the calls."""
    held = []

    class Reversed(Script):
        waits = True

        def on_departure(self, reply):
            if reply.kind == "callback" or not is_read(reply):
                return False
            self.waits = False
            held.append(reply)
            return True

        def on_quiet(self):
            for reply in reversed(held):
                reply.conform_late()
            held.clear()

    completes(bench.use(Reversed()), "RFC8167-2.4-1")

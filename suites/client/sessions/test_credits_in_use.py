"""Callbacks while the client's own calls have all credits (RFC 8167 4.1)."""

from steertag.suite import case, expect
from steertag.suite.client.backchannel import Backchannel
from ..callback_scripts import NEEDS
from ..client_verdicts import completes

APART = "RFC8167-4.1-1"


def _call_twice(back):
    """A callback while credits are free, which shows that the client answers. Then one while none is."""
    first = yield back.call(number=1)
    back.proven = first.is_compound
    if not back.proven:
        return "the client executes no callback"
    yield back.next_reply()
    back.called = True
    second = yield back.call(number=2)
    back.called = False
    return second


class AllInUse(Backchannel):
    """Grants one credit once the client has answered. The call whose reply waits has that one."""

    def __init__(self):
        super().__init__(_call_twice, self._is_due)
        self.proven = False
        self._lowered = False  # a reply has left that grants one credit
        self.called = False  # the second callback waits for its answer
        self.is_late = False  # that did not come before the credit was free

    def _is_due(self, _reply):
        return self._lowered or not self.proven

    def post(self, reply):
        if not self.proven:
            return False
        self._lowered = True
        reply.push()
        reply.send_mutated("credit.1", invalidate=reply.invalidate)
        return True

    def on_quiet(self):
        self.is_late = self.is_late or self.called
        super().on_quiet()


@case("client.callback.credits-in-use", requirements=[APART], needs=NEEDS)
def test_credits_in_use(bench):
    """The server grants one credit, and a call of the client has it. A callback is answered meanwhile: the credits of
    one direction are none of the other."""
    back = AllInUse()
    outcome = bench.use(back)
    if back.not_testable_reason and not back.is_late:
        bench.not_testable(back.not_testable_reason)
    what = "a callback is answered while all forward credits are in use"
    expect.true(not back.is_late, APART, what, outcome=outcome)
    completes(outcome, APART)

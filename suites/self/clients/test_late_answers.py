"""Answers to calls of the other direction that come after the client was quiet."""

import types

import pytest

from steertag import rpc, wire
from suites.client.mixed.test_exhaustion import Called, MOST_LATE

CALLS = 3 * MOST_LATE


class HeldReply:
    """A reply of the server to the call of this number, which notes when it leaves."""

    kind = "reply"

    def __init__(self, conn, number):
        self.conn, self.xid, self.left = conn, number, False

    def send(self, message):
        pass

    def conform(self):
        self.left = True

    conform_late = conform


def answer_to(xid):
    return wire.encode(wire.Header(xid=xid, credit=1), rpc.Reply(xid=xid).encode())


@pytest.fixture
def use():
    """A use of a server: `use.post()` posts a call, `use.answer(xid)` answers one."""
    conn = types.SimpleNamespace(number=1)
    script = Called(lambda reply, last: wire.Draft(xid=reply.xid))
    script.on_departure(HeldReply(conn, 0))
    made = types.SimpleNamespace(script=script, posted=0)

    def post():
        made.posted += 1
        made.reply = HeldReply(conn, made.posted)
        assert script.on_departure(made.reply)
        return made.reply

    made.post = post
    made.answer = lambda xid: script.on_arrival(conn, answer_to(xid))
    return made


def test_a_reply_waits_for_the_answer(use):
    reply = use.post()
    assert not reply.left
    assert use.answer(1)
    assert reply.left and use.script.answered == 1


def test_an_answer_after_quiet_counts(use):
    use.post()
    use.answer(1)
    late = use.post()
    use.script.on_quiet()
    assert late.left
    newer = use.post()
    assert use.answer(2)
    assert not newer.left, "the answer to another call released it"
    use.answer(3)
    assert newer.left and use.script.answered == 3


def test_a_client_that_answers_no_more_is_not_awaited_for_ever(use):
    use.post()
    use.answer(1)
    quiet = 0
    for _ in range(CALLS):
        if not use.post().left:
            quiet += 1
            use.script.on_quiet()
    assert (quiet, use.script.answered, use.script.posted) == (MOST_LATE, 1, CALLS + 1)


def test_a_client_that_is_quiet_at_the_first_call_answers_none(use):
    use.post()
    use.script.on_quiet()
    assert use.post().left
    use.answer(1)
    assert use.script.answered == 0

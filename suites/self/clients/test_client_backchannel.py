"""A script that calls the client back, when the client ends the connection between two callbacks."""

import types

from steertag.suite.client.backchannel import Backchannel


class Watched(Backchannel):
    """Without a server: replies are no more than their connection."""

    def __init__(self, callbacks):
        super().__init__(callbacks)
        self.posted = []

    def note(self, reply):
        return None

    def post(self, reply):
        self.posted.append(reply)
        return True


def reply_over(conn):
    return types.SimpleNamespace(kind="reply", conn=conn, raw=conn.raw)


def connection():
    return types.SimpleNamespace(raw=types.SimpleNamespace(up=True))


def test_no_callback_goes_over_a_connection_that_has_ended():
    begun = []

    def callbacks(back):
        for number in range(2):
            begun.append(number)
            yield back.next_reply()

    back = Watched(callbacks)
    back.conn = connection()
    assert back.on_departure(reply_over(back.conn))
    back.conn.raw.up = False
    again = reply_over(connection())
    assert back.on_departure(again) and back.posted[-1] is again
    assert begun == [0] and back.lost
    assert back.not_testable_reason == "the connection was lost while the server called"


class Joined(Watched):
    """The COMPOUND of a reply is what the reply says."""

    def note(self, reply):
        return getattr(reply, "step", None)


def joining(conn, made=None):
    """A reply to CREATE_SESSION, or to BIND_CONN_TO_SESSION, over this connection."""
    step = types.SimpleNamespace(
        asks_for_callbacks=True, session=b"session", made=made, conn=conn, result=lambda name: name
    )
    reply = reply_over(conn)
    reply.step, reply.conform = step, lambda: None
    return reply


def test_replies_wait_behind_a_binding_though_the_client_was_quiet():
    def callbacks(back):
        yield back.lose()
        yield 1

    first, second = connection(), connection()
    first.raw.abort = lambda: None
    back = Joined(callbacks)
    back.on_departure(joining(first, made="granted"))
    back.on_departure(reply_over(first))
    first.raw.up = False
    back.on_down(first, None)
    back.on_quiet()
    back.on_departure(joining(second))
    waits = reply_over(second)
    assert back.on_departure(waits) and waits not in back.posted
    back.on_down(second, None)
    assert back.lost, "the client ended the connection before it answered"

"""Answers to callbacks that end too early, behind whole ones that have filled every receive of the server."""

import pytest

from steertag.suite import case, expect, kinds
from ..message_words import in_a_row
from ..reverse_checks import expect_quiet, Recall, with_grant

SHORT = "RFC8166-4.5-1"
ELSEWHERE = "the server's callbacks on a connection do not have XIDs in a row"


def prime(conn, callback, xid):
    """Sends whole answers under the XID of a callback that has not come, more than the server has receives. None of
    its calls waits for one. The last message is such an answer."""
    left = in_a_row(conn)
    answer = conn.callbacks.reply_to(callback)
    answer.xid, answer.payload = xid, xid.to_bytes(4, "big") + bytes(answer.payload)[4:]
    while left > 0:
        expect(conn.probe(), SHORT, must=[kinds.REPLY])
        for _ in range(min(left, conn.window)):
            conn.send(answer)
            left -= 1


@case(
    "server.old-memory.callback-answer-{octets}",
    requirements=[SHORT],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("octets", [16, 24, 27])
def test_answer(bench, octets):
    """Every receive has held a whole answer under the XID of a later callback. That one's answer ends in its header: it
    is discarded, so that the only reverse credit is still in use. The right answer gives it back.
    """
    recall = Recall(bench, with_grant(bench, 1), count=3)
    conn, callbacks = recall.conn, recall.callbacks
    first = recall.expect_recall(SHORT, 0)
    callbacks.answer(first)
    xid = (first.xid + 1) & 0xFFFFFFFF
    prime(conn, first, xid)
    second = recall.expect_recall(SHORT, 1)
    if second.xid != xid:
        callbacks.answer(second)
        bench.not_testable(ELSEWHERE)
    recall.provoke(2)
    before = callbacks.count
    cut = callbacks.reply_to(second)
    cut.cut_to = octets
    conn.send(cut)
    expect_quiet(conn, SHORT, "callbacks beyond the one that waits", before)
    callbacks.answer(second)
    callbacks.answer(recall.wait(SHORT, 2))
    for number in range(3):
        recall.expect_done(SHORT, number)

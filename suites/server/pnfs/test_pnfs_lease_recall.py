"""I/O at data servers by a layout that is recalled and not returned yet (RFC 8881 12.5.5)."""

import time

import pytest

from steertag.suite import ANY, case, expect, kinds
from .layout_checks import NEEDS, NFS4, short_lease_of, user_with_layout, written
from .test_layout_recall import recall_by_removal

WAITS = "RFC8881-12.5.5-4"
# Of a lease: how long the client takes for a return that is in time.
LATE_SHARE = 0.9
PAUSE_MS = 250  # between two WRITEs


def recall(bench, user, answers=True):
    """Has the user's layout recalled, and answers unless it is to stay silent. Returns when it began."""
    began = time.monotonic()
    _, callback = recall_by_removal(bench, user, WAITS)
    if callback is None:
        bench.not_testable("the layout of a file that is removed is not recalled")
    if answers:
        user.session.conn.callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
    user.layout_stateid = callback["CB_LAYOUTRECALL"].clora_recall.lor_layout.lor_stateid
    return began


@case("server.pnfs.recall.io", requirements=[WAITS], needs=NEEDS, over=ANY)
def test_io(bench):
    """The client answers a CB_LAYOUTRECALL, writes by the layout what it still has, and returns the layout."""
    user = user_with_layout(bench)
    content = written(bench, user, WAITS)
    recall(bench, user)
    for part in user.parts():
        expect(user.write_part(part, content), WAITS, must=[kinds.REPLY])
    expect(user.layout_return(), WAITS, must=[kinds.REPLY])


@case("server.pnfs.recall.io-{name}", requirements=[WAITS], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", ["late", "unanswered"])
def test_io_late(bench, name):
    """The client takes nine tenths of a lease from a recall to the return, and answers the recall at once or never. It
    renews its lease, and its WRITEs at data servers succeed all the time."""
    user = user_with_layout(bench)
    lease_s = short_lease_of(bench, user)
    content = written(bench, user, WAITS)
    part = user.parts()[0]
    began = recall(bench, user, answers=name == "late")
    while time.monotonic() < began + LATE_SHARE * lease_s:
        user.session.run("PUTROOTFH")
        _expect_before(bench, began + lease_s, user.write_part(part, content))
        user.session.conn.wait_closed(PAUSE_MS)
    _expect_before(bench, began + lease_s, user.layout_return())


def _expect_before(bench, end, outcome):
    """The operation has succeeded. What came after the lease shows nothing."""
    if time.monotonic() >= end:
        bench.not_testable("the machine was too slow: an answer came after the lease")
    expect(outcome, WAITS, must=[kinds.REPLY])

"""A data server that goes on at another address, and who hears of it (RFC 8881 12.2.10, 20.12)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from .layout_checks import expect_at_data_servers, NEEDS, written
from .test_device_deletion import is_notice, user_who_asks
from .withdrawals import (
    await_callback,
    CHANGE,
    DELETE,
    deviceids_in,
    is_bulk,
    recall_type,
    return_bulk,
    return_file,
    take,
)

ASKED, HEARD = "RFC8881-12.2.10-2", "RFC8881-12.2.10-4"
MOVE = "move-data-server"
# In the sandbox the bundled server listens nowhere else.
MOVABLE = "--no-sandbox"
UNASKED = {"nothing": (), "deletions": (DELETE,)}


def is_recall(callback):
    return "CB_LAYOUTRECALL" in callback


@case("server.pnfs.device.moved", requirements=[ASKED, HEARD], needs=NEEDS, over=ANY)
def test_moved(bench):
    """A client has asked for changes of its device, and a data server moves. It gets NOTIFY_DEVICEID4_CHANGE. The
    device has other addresses, where the layout serves."""
    bench.serve_with(MOVABLE)
    user = user_who_asks(bench, ASKED, CHANGE)
    content = written(bench, user, HEARD)
    former = user.device.servers
    bench.administer(MOVE)
    heard = await_callback(user, lambda each: is_notice(each) or is_recall(each))
    expect.true(heard is not None, HEARD, "a callback comes when a data server has moved")
    if is_recall(heard):
        take(user, heard)
        bench.not_testable("the target recalls layouts, and tells of no change")
    user.session.conn.callbacks.answer(heard)
    changed = deviceids_in([heard], CHANGE)
    expect.equal(changed, [user.layout.device], ASKED, "devices that have changed")
    user.use_device()
    expect.true(user.device.servers != former, HEARD, "the device has other addresses")
    user.at = {}
    expect_at_data_servers(user, content, HEARD)


@case("server.pnfs.device.moved-{name}", requirements=[ASKED, HEARD], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", UNASKED)
def test_moved_unasked(bench, name):
    """A client has asked for nothing, or for deletions alone, and a data server moves. Its layout is recalled, and no
    notice of the change comes."""
    bench.serve_with(MOVABLE)
    user = user_who_asks(bench, ASKED, *UNASKED[name])
    bench.administer(MOVE)
    heard = await_callback(user, lambda each: is_notice(each) or is_recall(each))
    expect.true(heard is not None, HEARD, "a callback comes when a data server has moved")
    noticed = deviceids_in(user.session.conn.callbacks.seen, CHANGE)
    expect.equal(noticed, [], ASKED, "devices in notices of changes that were not asked for")
    take(user, heard)
    if is_bulk(heard):
        back = return_bulk(user, recall_type(heard))
    else:
        user.layout_stateid = heard["CB_LAYOUTRECALL"].clora_recall.lor_layout.lor_stateid
        back = return_file(user)
    expect(back, HEARD, must=[kinds.REPLY])
    user.session.run("PUTROOTFH")
    noticed = deviceids_in(user.session.conn.callbacks.seen, CHANGE)
    expect.equal(noticed, [], ASKED, "devices in notices of changes that were not asked for")

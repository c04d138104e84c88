"""Devices that are deleted, and who hears of it (RFC 8881 12.2.10, 18.43.4, 20.12)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from .layout_checks import NEEDS, NFS4
from .withdrawals import (
    await_callback,
    CHANGE,
    DELETE,
    deviceids_in,
    give_back,
    watching_user,
    withdraw,
)

REUSE, ASKED, IN_USE, NOTIFIED = (
    "RFC8881-12.2.10-1",
    "RFC8881-12.2.10-2",
    "RFC8881-18.43.4-1",
    "RFC8881-20.12.3-1",
)
REPLACED = "replaced"
# Devices one after the other.
DEVICES = 100


def user_who_asks(bench, requirement_id, *asked):
    """A user with a layout, whose GETDEVICEINFO asks for these notifications. Ends the case unless they are promised."""
    user = watching_user(bench)
    ask(bench, user, requirement_id, *asked)
    return user


def ask(bench, user, requirement_id, *asked):
    types = NFS4.bitmap(*asked)
    outcome = expect(user.device_info(gdia_notify_types=types), requirement_id, must=[kinds.REPLY])
    promised = outcome.result["GETDEVICEINFO"].resok4.gdir_notification
    if promised != types:
        bench.not_testable("the target promises other notifications than were asked for")


def is_notice(callback):
    return "CB_NOTIFY_DEVICEID" in callback


@case(
    "server.pnfs.device.deleted",
    requirements=[ASKED, IN_USE, NOTIFIED],
    needs=NEEDS,
    over=ANY,
)
def test_deleted(bench):
    """A client asks to hear of the end of its layout's device, which is replaced. The device is there, and no notice comes
    until the layouts are back. Then one does."""
    user = user_who_asks(bench, ASKED, DELETE)
    callbacks = user.session.conn.callbacks
    recall = withdraw(bench, user, REPLACED)
    device = user.layout.device
    expect(user.device_info(gdia_notify_types=NFS4.bitmap(DELETE)), IN_USE, must=[kinds.REPLY])
    early = deviceids_in(callbacks.seen, DELETE)
    expect.equal(early, [], NOTIFIED, "devices that are deleted before the layouts are back")
    give_back(user, recall, IN_USE)
    notice = await_callback(user, is_notice)
    expect.true(
        notice is not None, ASKED, "CB_NOTIFY_DEVICEID comes, as GETDEVICEINFO has promised"
    )
    callbacks.answer(notice)
    expect.equal(deviceids_in([notice], DELETE), [device], ASKED, "devices that are deleted")


UNASKED = {"nothing": (), "changes": (CHANGE,), "taken-back": (DELETE,)}


@case("server.pnfs.device.deleted-{name}", requirements=[ASKED], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", UNASKED)
def test_deleted_unasked(bench, name):
    """A client asks for nothing, for changes alone, or takes back what it has asked for. No notice of the
    deletion comes to it. Another client has asked, and its notice shows when the server sends them.
    """
    user = user_who_asks(bench, ASKED, *UNASKED[name])
    if name == "taken-back":
        ask(bench, user, ASKED)
    other = user_who_asks(bench, ASKED, DELETE)
    give_back(user, withdraw(bench, user, REPLACED), ASKED)
    recall = await_callback(other, lambda callback: "CB_LAYOUTRECALL" in callback)
    expect.true(recall is not None, ASKED, "the layout of the other client is recalled too")
    give_back(other, recall, ASKED)
    notice = await_callback(other, is_notice)
    if notice is None:
        bench.not_testable("the target sends no notice of a deleted device")
    other.session.conn.callbacks.answer(notice)
    user.session.run("PUTROOTFH")
    heard = deviceids_in(user.session.conn.callbacks.seen, DELETE)
    expect.equal(heard, [], ASKED, "deleted devices in notices that were not asked for")


@case("server.pnfs.device.replaced-often", requirements=[REUSE], needs=NEEDS, over=ANY)
def test_replaced(bench):
    """The data servers of a client change 100 times, and its layouts are recalled each time. No device ID comes
    twice."""
    user = watching_user(bench)
    devices = [user.layout.device]
    for _ in range(DEVICES):
        give_back(user, withdraw(bench, user, REPLACED), REUSE)
        user.layout_stateid = None
        user.take(user.layout_get())
        devices.append(user.layout.device)
    expect.equal(len(set(devices)), len(devices), REUSE, "different device IDs of so many devices")

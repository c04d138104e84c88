"""How long a device ID lives (RFC 8881 12.2.10, 18.43.4, 20.12)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.layout_user import LayoutUser
from .layout_checks import NEEDS, NFS4, user_with_layout
from .test_layout_recall import recall_by_removal
from .withdrawals import deviceids_in, give_back, watching_user, withdraw

REUSE, IN_USE, NOTIFIED = "RFC8881-12.2.10-1", "RFC8881-18.43.4-1", "RFC8881-20.12.3-1"
CHANGE, DELETE = 1, 2  # notify_deviceid_type4
# Layouts after the one whose device is deleted.
NEXT_LAYOUTS = 10
GONE = "nfs:NFS4ERR_NOENT"


@case("server.pnfs.device.in-use", requirements=[IN_USE], needs=NEEDS, over=ANY)
def test_in_use(bench):
    """The layouts of two files name a device. One of them is returned, and so is another client's layout. The device is
    there until the last layout is returned."""
    user, other = user_with_layout(bench), user_with_layout(bench)
    second = bench.name("second")
    bench.file(b"", second)
    opened, handle = user.session.open(
        bench.nfs4_files(user.session).directory, second, NFS4.OPEN4_SHARE_ACCESS_BOTH
    )
    first = user.layout_stateid
    user.take(user.layout_get(handle, loga_stateid=opened.stateid))
    expect(user.layout_return(first), IN_USE, must=[kinds.REPLY])
    expect(other.layout_return(), IN_USE, must=[kinds.REPLY])
    expect(user.device_info(), IN_USE, must=[kinds.REPLY])


@case("server.pnfs.device.not-reused", requirements=[REUSE], needs=NEEDS, over=ANY)
def test_not_reused(bench):
    """A client returns its only layout, and the server deletes the device, which its administrator may have to ask for.
    Layouts that the client gets later do not name it."""
    user = user_with_layout(bench)
    device = user.layout.device
    expect(user.layout_return(), REUSE, must=[kinds.REPLY])
    if user.device_info().kind != GONE:
        other = watching_user(bench)
        give_back(other, withdraw(bench, other, "replaced"), REUSE)
        if user.device_info().kind != GONE:
            bench.not_testable("the target keeps a device that no layout names")
    for _ in range(NEXT_LAYOUTS):
        user.layout_stateid = None
        user.take(user.layout_get())
        other = user.layout.device != device
        expect.true(other, REUSE, "a later layout has another device ID than the deleted one")
        expect(user.layout_return(), REUSE, must=[kinds.REPLY])


@case("server.pnfs.device.not-deleted", requirements=[NOTIFIED], needs=NEEDS, over=ANY)
def test_not_deleted(bench):
    """A client asks for notifications of its layout's device. The file is removed, and the layout recalled. Until the
    return no CB_NOTIFY_DEVICEID deletes the device."""
    user = LayoutUser(bench)
    user.use_layout()
    types = NFS4.bitmap(CHANGE, DELETE)
    expect(user.device_info(gdia_notify_types=types), NOTIFIED, must=[kinds.REPLY])
    _, callback = recall_by_removal(bench, user, NOTIFIED)
    callbacks = user.session.conn.callbacks
    if callback is not None:
        callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
        user.layout_stateid = callback["CB_LAYOUTRECALL"].clora_recall.lor_layout.lor_stateid
    user.session.run("PUTROOTFH")
    gone = user.layout.device in deviceids_in(callbacks.seen, DELETE)
    expect.true(not gone, NOTIFIED, "no notification deletes the device of a layout")
    expect(user.layout_return(), NOTIFIED, must=[kinds.REPLY])

"""Layouts that an administrator withdraws, and what a client is called for then."""

from steertag import nfs
from steertag.suite import expect, kinds
from steertag.suite.nfs_client.file_layout import Body, DEVICE_ID_OCTETS
from steertag.suite.nfs_client.layout_user import ALL, ANY_LAYOUT
from .layout_checks import user_with_layout

NFS4 = nfs.nfs4
# What an administrator may want, by which layouts come back.
WAYS = {"recalled": "recall-layouts", "replaced": "replace-device"}
BULK = (NFS4.LayoutrecallType.LAYOUTRECALL4_FSID, NFS4.LayoutrecallType.LAYOUTRECALL4_ALL)
FILE = NFS4.LayoutrecallType.LAYOUTRECALL4_FILE
CHANGE, DELETE = 1, 2  # notify_deviceid_type4
MOST_CALLBACKS = 8  # that a server may send before the one that is waited for


def watching_user(bench, **fields):
    """A LayoutUser with a layout that answers its callbacks itself."""
    user = user_with_layout(bench, **fields)
    user.session.conn.callbacks.configure(answers_null=False)
    return user


def is_bulk(callback):
    return "CB_LAYOUTRECALL" in callback and recall_type(callback) in BULK


def recall_type(callback):
    return callback["CB_LAYOUTRECALL"].clora_recall.lor_recalltype


def await_callback(user, is_wanted):
    """The next callback for which this holds, not answered yet; None if none comes. Others are answered."""
    callbacks = user.session.conn.callbacks
    for _ in range(MOST_CALLBACKS):
        callback = callbacks.wait()
        if callback is None or is_wanted(callback):
            return callback
        callbacks.answer(callback)
    return None


def withdraw(bench, user, way):
    """Has the layouts withdrawn. Returns the user's bulk recall, not answered yet."""
    bench.administer(WAYS[way])
    callback = await_callback(user, is_bulk)
    if callback is None:
        bench.not_testable("the target recalls the layouts of each file alone, or none")
    return callback


def take(user, callback):
    """Answers a recall with NFS4_OK."""
    user.session.conn.callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})


def return_bulk(user, kind):
    """The Outcome of LAYOUTRETURN of all layouts, or of those of the file system. `kind` is the recall's."""
    scope = {"lr_returntype": NFS4.LayoutreturnType(int(kind))}
    user_fields = {"lora_iomode": ANY_LAYOUT, "lora_layoutreturn": scope}
    return user.layout_return(**user_fields)


def give_back(user, callback, requirement_id):
    """Answers the bulk recall, and returns what it is of."""
    take(user, callback)
    expect(return_bulk(user, recall_type(callback)), requirement_id, must=[kinds.REPLY])


def return_file(user):
    """The Outcome of LAYOUTRETURN of the file, by its stateid."""
    scope = {"lrf_length": ALL, "lrf_stateid": user.layout_stateid}
    return user.layout_return(lora_layoutreturn={"lr_layout": scope})


def deviceids_in(callbacks, kind):
    """The device IDs of the notifications of this type among callbacks."""
    found = []
    for callback in callbacks:
        for number, arguments in callback.operations or ():
            if number.name != "CB_NOTIFY_DEVICEID":
                continue
            for each in arguments.cnda_changes:
                # notify_deviceid_delete4 and _change4: layout type and device ID first.
                if each.notify_mask == NFS4.bitmap(kind):
                    body = Body(each.notify_vals)
                    body.number()
                    found.append(body.fixed(DEVICE_ID_OCTETS))
    return found

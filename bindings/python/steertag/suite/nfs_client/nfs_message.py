"""NFS and MOUNT by procedure name: arguments from fields, results with the items of write
chunks."""

from ... import nfs, rpc, wire
from ..cases import kinds
from . import compound
from .compound import built

# Above the largest request of the suite: a reply may claim four gibibytes for a reduced item.
MOST_ITEM_OCTETS = 16 << 20

_PROGRAMS = {
    (nfs.nfs3.PROGRAM, nfs.nfs3.VERSION): (nfs.nfs3, "nfs"),
    (nfs.mount3.PROGRAM, nfs.mount3.VERSION): (nfs.mount3, "mount"),
}


def nfs_arguments(procedure, arguments, fields):
    """(procedure number, octets of the arguments). `procedure` is a name ("READ") or a number.
    `arguments` are octets, a value of nfs.nfs3, or None for `fields`. A struct in `fields` may be a
    dict."""
    number = nfs.nfs3.Procedure[procedure] if isinstance(procedure, str) else procedure
    if isinstance(arguments, (bytes, bytearray)):
        return int(number), bytes(arguments)
    if arguments is None and fields:
        name = nfs.nfs3.Procedure(number).name.capitalize()
        arguments = built(getattr(nfs.nfs3, f"{name}Args"), fields)
    return int(number), nfs.nfs3.encode_args(int(number), arguments)


def read_result(asked, payload):
    """(kind, decoded result or None, fault text) of an accepted and successful reply. `asked` is
    (program, version, procedure) of the call, `payload` the reply as one payload stream."""
    if asked == compound.ASKED:
        return _read_compound(payload)
    module, word = _PROGRAMS.get(asked[:2], (None, ""))
    if not _is_known(asked):
        return kinds.REPLY, None, ""
    try:
        _, result = module.decode_reply(asked[2], payload)
    except wire.DecodeError as fault:
        return kinds.GARBAGE, None, f"results: {fault}"
    status = getattr(result, "status", None)
    if status is None or int(status) == 0:
        return kinds.REPLY, result, ""
    return f"{word}:{status.name}", result, ""


def _read_compound(payload):
    _, results = rpc.Reply.decode(payload)
    try:
        result = compound.read_compound(results)
    except wire.DecodeError as fault:
        return kinds.GARBAGE, None, f"results: {fault}"
    if int(result.status) == 0:
        return kinds.REPLY, result, ""
    return f"nfs:{result.status.name}", result, ""


def with_item(asked, payload, chunks):
    """The reply as one payload stream, with a reduced DDP-eligible result in its place (RFC 8166
    3.4.6.1). Raises DecodeError."""
    if asked == compound.ASKED:
        return _with_items(asked, payload, chunks)
    if not _is_known(asked):
        return payload
    item = nfs.binding.eligible_result(payload, *asked)
    if item is None or not item.reduced:
        return payload
    carried = next((chunk for chunk in chunks if chunk), b"")
    return _put_back(payload, item, carried)


def _with_items(asked, payload, chunks):
    """Each operation's item in its place: item i is in write chunk i (RFC 8267 6.4.1)."""
    lengths = [len(content) for content in chunks]
    items = nfs.binding.eligible_results(payload, *asked, lengths)
    whole = bytes(payload)
    for item, content in zip(items, chunks):
        if item.reduced:  # positions are of the unreduced stream, so they are valid in order
            whole = _put_back(whole, item, content)
    return whole


def _put_back(payload, item, carried):
    """The payload stream with the octets of a chunk in place of a reduced item. Missing octets are
    zero."""
    if item.length > MOST_ITEM_OCTETS:
        raise wire.DecodeError(f"an item of {item.length} octets was asked for by no call")
    data = carried[: item.length].ljust(item.length, b"\0")
    return payload[: item.position] + data + bytes(-item.length % 4) + payload[item.position :]


def _is_known(asked):
    """Whether the suite can decode the results of this (program, version, procedure)."""
    module, _ = _PROGRAMS.get(asked[:2], (None, ""))
    return module is not None and asked[2] in {int(each) for each in module.Procedure}


def auth_sys(uid, gid):
    """The credential of the suite's calls."""
    return rpc.auth_sys(uid=uid, gid=gid)

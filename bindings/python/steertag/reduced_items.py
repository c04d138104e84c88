"""DDP-eligible items that chunks carry, put back into their payload stream (RFC 8166 3.4.6.1)."""

from . import nfs, wire

# Of all reduced items of a message, above the largest request of the suite: a message may claim four
# gibibytes for each.
MOST_ITEM_OCTETS = 16 << 20

COMPOUND = (nfs.nfs4.PROGRAM, nfs.nfs4.VERSION, nfs.nfs4.NFSPROC4_COMPOUND)
_DIRECT = (nfs.direct.PROGRAM, nfs.direct.VERSION)
_MODULES = {
    (nfs.nfs3.PROGRAM, nfs.nfs3.VERSION): nfs.nfs3,
    (nfs.mount3.PROGRAM, nfs.mount3.VERSION): nfs.mount3,
    _DIRECT: nfs.direct,
}


def module_of(asked):
    """nfs3, mount3 or direct if (program, version, procedure) is a procedure of it, or None."""
    module = _MODULES.get(tuple(asked[:2]))
    known = module is not None and asked[2] in {int(each) for each in module.Procedure}
    return module if known else None


def with_item(asked, payload, chunks):
    """The reply as one payload stream, with a reduced DDP-eligible result in its place. `chunks` are the
    octets of its write chunks. Raises DecodeError."""
    if asked == COMPOUND or tuple(asked[:2]) == _DIRECT:
        return _with_items(asked, payload, chunks)
    if module_of(asked) is None:
        return payload
    item = nfs.binding.eligible_result(payload, *asked)
    if item is None or not item.reduced:
        return payload
    carried = next((chunk for chunk in chunks if chunk), b"")
    return _put_back(payload, item, carried)


def with_arguments(payload, positions):
    """The call as one payload stream, with zero octets for its reduced arguments. `positions` are those of
    its read chunks. Raises DecodeError."""
    items = nfs.binding.eligible_arguments(payload, sorted(set(positions)))
    return _put_all_back(payload, items, [b""] * len(items))


def _with_items(asked, payload, chunks):
    """Each item in its place: item i is in write chunk i (RFC 8267 6.4.1, docs/direct-access.md)."""
    contents = [chunk or b"" for chunk in chunks]
    lengths = [len(content) for content in contents]
    return _put_all_back(payload, nfs.binding.eligible_results(payload, *asked, lengths), contents)


def _put_all_back(payload, items, contents):
    whole = bytes(payload)
    for item, content in zip(items, contents):
        if item.reduced:  # positions are of the unreduced stream, so they are valid in order
            whole = _put_back(whole, item, content)
    return whole


def _put_back(payload, item, carried):
    """The payload stream with the octets of a chunk in place of a reduced item. Missing octets are
    zero."""
    if len(payload) + item.length > MOST_ITEM_OCTETS:
        raise wire.DecodeError(f"an item of {item.length} octets was asked for by no call")
    data = carried[: item.length].ljust(item.length, b"\0")
    return payload[: item.position] + data + bytes(-item.length % 4) + payload[item.position :]

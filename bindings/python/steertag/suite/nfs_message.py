"""NFS version 3 and MOUNT version 3 by procedure name: arguments from fields, results with the items
of write chunks put back."""

import dataclasses

from .. import nfs, rpc, wire
from . import kinds

_PROGRAMS = {
    (nfs.nfs3.PROGRAM, nfs.nfs3.VERSION): (nfs.nfs3, "nfs"),
    (nfs.mount3.PROGRAM, nfs.mount3.VERSION): (nfs.mount3, "mount"),
}


def nfs_arguments(procedure, arguments, fields):
    """(procedure number, octets of the arguments). `procedure` is a name ("READ") or a number;
    `arguments` are octets, a value of nfs.nfs3, or None for `fields`, in which a struct may be a dict
    of its fields."""
    number = nfs.nfs3.Procedure[procedure] if isinstance(procedure, str) else procedure
    if isinstance(arguments, (bytes, bytearray)):
        return int(number), bytes(arguments)
    if arguments is None and fields:
        name = nfs.nfs3.Procedure(number).name.capitalize()
        arguments = _built(getattr(nfs.nfs3, f"{name}Args"), fields)
    return int(number), nfs.nfs3.encode_args(int(number), arguments)


def _built(kind, fields):
    """A data class from a dict; dicts inside become the data classes of their fields."""
    factories = {field.name: field.default_factory for field in dataclasses.fields(kind)}
    return kind(
        **{
            name: _built(factories[name], value) if isinstance(value, dict) else value
            for name, value in fields.items()
        }
    )


def read_result(asked, payload):
    """(kind, decoded result or None, fault text) of an accepted and successful reply. `asked` is
    (program, version, procedure) of the call, `payload` the reply as one payload stream."""
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


def with_item(asked, payload, chunks):
    """The reply as one payload stream: the DDP-eligible result, if it was reduced, stands in its place
    again (RFC 8166 3.4.6.1). Raises DecodeError."""
    if not _is_known(asked):
        return payload
    item = nfs.binding.eligible_result(payload, *asked)
    if item is None or not item.reduced:
        return payload
    carried = next((chunk for chunk in chunks if chunk), b"")
    data = carried[: item.length].ljust(item.length, b"\0")
    return payload[: item.position] + data + bytes(-item.length % 4) + payload[item.position :]


def _is_known(asked):
    """Whether the suite can decode the results of this (program, version, procedure)."""
    module, _ = _PROGRAMS.get(asked[:2], (None, ""))
    return module is not None and asked[2] in {int(each) for each in module.Procedure}


def auth_sys(uid, gid):
    """The credential of the suite's calls."""
    return rpc.auth_sys(uid=uid, gid=gid)

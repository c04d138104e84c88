"""NFS and MOUNT by procedure name: arguments from fields, decoded results."""

from ... import nfs, rpc, wire
from ...reduced_items import module_of
from ..cases import kinds
from . import compound
from .compound import built

_PROGRAMS = {
    (nfs.nfs3.PROGRAM, nfs.nfs3.VERSION): (nfs.nfs3, "nfs"),
    (nfs.mount3.PROGRAM, nfs.mount3.VERSION): (nfs.mount3, "mount"),
    (nfs.direct.PROGRAM, nfs.direct.VERSION): (nfs.direct, "nfs"),
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
    if module_of(asked) is None:
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


def null_version(profile):
    """The version of NULL calls: 4 where the profile denies version 3."""
    return nfs.nfs3.VERSION if has_nfs3(profile) else nfs.nfs4.VERSION


def has_nfs3(profile):
    """Whether the target executes NFS version 3, as far as its profile says."""
    return profile.supports.get("nfs3") is not False


def auth_sys(uid, gid):
    """The credential of the suite's calls."""
    return rpc.auth_sys(uid=uid, gid=gid)

"""COMPOUND and CB_COMPOUND in words: each operation with what matters of it."""

from .. import nfs, wire
from .field_words import field_words, name_words
from .nfs4_fields import ARGUMENTS, RESULTS

_NFS4 = nfs.nfs4
# Operations that are shown; a server may allow hundreds.
MOST_OPERATIONS = 16
# They prepare the operations that a COMPOUND is sent for.
_PREPARING = {"SEQUENCE", "CB_SEQUENCE", "PUTFH", "PUTROOTFH", "SAVEFH", "RESTOREFH"}


def call_words(arguments, is_callback, stateids):
    """(minor version or None, words, names of its operations) of the octets of COMPOUND4args or CB_COMPOUND4args."""
    decode = _NFS4.decode_cb_args if is_callback else _NFS4.decode_args
    try:
        fixed, operations = decode(arguments)
    except wire.DecodeError as fault:
        return None, f"arguments break at {fault}", ()
    if is_callback:
        for number, value in operations:
            if number.name == "CB_RECALL":
                stateids.recalled(value.stateid)
    shown = [_operation(number.name, value, stateids) for number, value in operations]
    return fixed.minorversion, _listed(shown), _main([number.name for number, _ in operations])


def reply_words(results, is_callback, stateids):
    """The octets of COMPOUND4res or CB_COMPOUND4res: the status, then each operation."""
    decode = _NFS4.decode_cb_result if is_callback else _NFS4.decode_result
    try:
        fixed, operations = decode(results)
    except wire.DecodeError as fault:
        return f"results break at {fault}"
    for number, value in () if is_callback else operations:
        stateids.learn(number.name, value)
    shown = [_result(number.name, value, stateids) for number, value in operations]
    return f"{fixed.status.name}: {_listed(shown)}"


def _main(names):
    """Without the operations that prepare others, if there are others."""
    return [name for name in names if name not in _PREPARING] or names


def _listed(shown):
    hidden = len(shown) - MOST_OPERATIONS
    if hidden > 0:
        shown = [*shown[:MOST_OPERATIONS], f"{hidden} more"]
    return ", ".join(shown) or "no operation"


def _operation(name, value, stateids):
    special = {"OPEN": _open, "LOCK": _lock}.get(name)
    words = special(value, stateids) if special else ""
    words = words or field_words(value, ARGUMENTS.get(name, ()), stateids)
    return f"{name} {words}".rstrip()


def _result(name, value, stateids):
    status = getattr(value, "status", None)
    if status is None:
        return name
    if int(status) != 0:
        return f"{name} {status.name}"
    words = field_words(getattr(value, "resok4", None), RESULTS.get(name, ()), stateids)
    return f"{name} OK {words}".rstrip()


def _open(value, stateids):
    claim = value.claim
    parts = [claim.claim.name]
    if claim.file:
        parts.append(name_words(claim.file))
    if value.openhow.opentype.name == "OPEN4_CREATE":
        parts.append(f"create {value.openhow.how.mode.name}")
    if claim.claim.name == "CLAIM_DELEGATE_CUR":
        parts.append(stateids.words(claim.delegate_cur_info.delegate_stateid))
    parts += [f"access {value.share_access}", f"deny {value.share_deny}"]
    return " ".join(parts)


def _lock(value, stateids):
    locker = value.locker
    is_new = locker.new_lock_owner
    stateid = locker.open_owner.open_stateid if is_new else locker.lock_owner.lock_stateid
    return (
        f"{value.locktype.name} {stateids.words(stateid)}{' new owner' if is_new else ''} "
        f"offset {value.offset} length {value.length}"
    )

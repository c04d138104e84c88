"""Facts about what came from the target, in a form in which two runs can be compared.

Values that a target chooses anew in each run are left out: times, identifiers, verifiers."""

import dataclasses
import hashlib

from ..suite.exchange.callbacks import callback_of, read_callback
from ..suite.exchange.outcome import of_message, of_record
from ..suite.recording.plain import as_plain, CannotKeep

# Entries of a list, and levels of a result that the facts go into.
MOST_ENTRIES = 8
MOST_LEVELS = 8
# Parts of paths whose values differ from run to run.
_UNSTABLE = ("attributes", "verf", "fileid", "time", "object", "obj", "fhandle", "wcc")
_UNSTABLE += ("sessionid", "sessid", "clientid", "stateid", "cinfo", "callback.xid", ".fh")
# Of a segment: chosen by the case's provider.
_OF_MEMORY = ("handle", "offset")


def message_facts(message, call, has_header, replies):
    """{path: value} of a message.Message that answers `call` (a Call, RecordCall or None), or is a call of the
    target. `replies` are octets of the replies on its connection."""
    callback = read_callback(message) if has_header else callback_of(message.bytes)
    if callback is not None:
        return _stable(_of_callback(callback, replies))
    outcome = (of_message if has_header else of_record)(None, call, message)
    return _stable(_of_outcome(outcome))


def first_difference(before, after):
    """One sentence on the first of the facts that differ, of what came then and now."""
    if len(before) != len(after):
        return f"{len(after)} things came, and {len(before)} in the recording"
    then, now = next(pair for pair in zip(before, after) if pair[0] != pair[1])
    path = next(path for path in (*then, *now) if then.get(path) != now.get(path))
    return f"{path} is {now.get(path)}, and {then.get(path)} in the recording"


def _of_outcome(outcome):
    found = {"kind": outcome.kind, "xid": outcome.xid, "length": len(outcome.raw)}
    found["is_invalidating"] = outcome.invalidated is not None
    for name in ("header", "reply", "result"):
        _walk(found, name, getattr(outcome, name), 0)
    for name in ("read_list", "write_list"):
        entries = getattr(outcome.header, name, None)
        if entries is not None:
            found[f"header.{name}"] = len(entries)
    return found


def _of_callback(callback, replies):
    """What a call of the target holds, but for its XID."""
    found = {"callback.length": len(callback.message.bytes if callback.message else b"")}
    if callback.header is not None:
        found["callback.one_xid"] = callback.header.xid == callback.rpc.xid
    found["callback.operations"] = [number.name for number, _ in callback.operations]
    for name in ("header", "rpc", "fixed"):
        _walk(found, f"callback.{name}", getattr(callback, name), 0)
    for number, arguments in callback.operations[:MOST_ENTRIES]:
        _walk(found, f"callback.{number.name}", arguments, 0)
    found["callback.recalls_given"] = [
        any(other in reply for reply in replies) for other in callback.recalled
    ]
    for name in ("header", "rpc"):
        found.pop(f"callback.{name}.xid", None)
    return found


def _walk(found, path, value, level):
    """Every plain value below a data class."""
    if level > MOST_LEVELS:
        return
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name not in _OF_MEMORY:
                _walk(found, f"{path}.{field.name}", getattr(value, field.name), level + 1)
    elif isinstance(value, (list, tuple)):
        found[f"{path}.entries"] = len(value)
        for number, each in enumerate(value[:MOST_ENTRIES]):
            _walk(found, f"{path}.{number}", each, level + 1)
    else:
        try:
            found[path] = as_plain(value)
        except CannotKeep:
            return


def _stable(values):
    """The facts that are the same whenever the same happens, octets by their digest."""
    return {
        path: hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value
        for path, value in values.items()
        if not any(part in path for part in _UNSTABLE)
    }

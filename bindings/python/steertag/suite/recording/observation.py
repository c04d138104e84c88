"""What can be said about something that came from the target: a flat table of values by path, such as
"header.credit" or "result.ok.count"."""

import dataclasses
import enum
import hashlib

from ...trace import Role
from ..exchange.callbacks import Callback
from ..exchange.message import Message
from ..exchange.outcome import Outcome
from ..rdma.connection import Connection
from ..rdma.memory import Offer
from .doings import doings

# Words of a message, entries of a list, and levels of a result that the table goes into.
MOST_WORDS = 16
MOST_ENTRIES = 8
MOST_LEVELS = 8
# Parts of paths whose values differ from run to run: times, numbers that the server gives out.
_UNSTABLE = ("attributes", "verf", "fileid", "time", "object", "obj", "fhandle", "wcc")
_UNSTABLE += ("sessionid", "sessid", "clientid", "stateid", "cinfo", "callback.xid", ".fh")
_STABLE = ("kind", "length", "xid", "invalidated", "header.", "reply.", "result.", "value", "open")
_STABLE += ("callback", "private_data")


class CannotKeep(Exception):
    """A value that is no number, text, octets, or list of them; one sentence."""


def as_plain(value):
    """The value in types that compare and store alike: enumerations as numbers, tuples as lists."""
    if value is None or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value, enum.Enum) and not isinstance(value, int):
        return as_plain(value.value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = [as_plain(each) for each in value]
        return sorted(parts, key=repr) if isinstance(value, (set, frozenset)) else parts
    if isinstance(value, dict):
        return {str(key): as_plain(each) for key, each in value.items()}
    raise CannotKeep(f"a case uses a {type(value).__name__}, which a recording cannot hold")


@dataclasses.dataclass(frozen=True)
class Heard:
    """What a method of `callbacks` returned, with those: they may have grown meanwhile."""

    value: object
    callbacks: object


def values_of(seen, memory_of):
    """{path: value} of an Outcome, a Message, a Callback, a Connection, an Offer, or a plain value.
    `memory_of(stag)` gives the name and the base of memory."""
    if isinstance(seen, Outcome):
        return _of_outcome(seen, memory_of)
    if isinstance(seen, Heard):
        return {"value": seen.value} | _of_callbacks(seen.callbacks)
    if isinstance(seen, Offer):
        return {"memory": seen.bytes()}
    if isinstance(seen, Message):
        return {"xid": seen.xid, "length": len(seen.bytes), **_words(seen.bytes)}
    if isinstance(seen, Connection):
        return {"private_data": bytes(seen.server_private_data), "open": seen.open}
    if isinstance(seen, Callback):
        return _of_callback(seen, "callback") | _of_callbacks(seen.among)
    return {"value": seen}


def _of_callback(callback, path):
    """What a call of the target holds; its XID apart, which is another each time."""
    found = {f"{path}.length": len(callback.message.bytes)}
    if callback.header is not None:
        found[f"{path}.one_xid"] = callback.header.xid == callback.rpc.xid
    found[f"{path}.operations"] = [number.name for number, _ in callback.operations]
    for name in ("header", "rpc", "fixed"):
        _walk(found, f"{path}.{name}", getattr(callback, name), 0)
    for number, arguments in callback.operations[:MOST_ENTRIES]:
        _walk(found, f"{path}.{number.name}", arguments, 0)
    if callback.recalled:
        found[f"{path}.recalls_given"] = _were_given(callback)
    for name in ("header", "rpc"):
        found[f"{path}.xid"] = found.pop(f"{path}.{name}.xid", None)
    return found


def _were_given(callback):
    """Of each stateid that a call recalls, whether a reply on the connection had it."""
    calls = {bytes(each.message.bytes) for each in callback.among.seen}
    replies = [
        bytes(event.bytes)
        for event in callback.conn.recorder.events()
        if event.kind == "send" and event.actor == Role.server and bytes(event.bytes) not in calls
    ]
    return [any(other in reply for reply in replies) for other in callback.recalled]


def _of_callbacks(callbacks):
    """All that came on a connection, as far as anybody listens there."""
    if callbacks is None:
        return {}
    found = {"callbacks.count": callbacks.count, "callbacks.kept": len(callbacks.kept)}
    for number, each in enumerate(callbacks.seen[:MOST_ENTRIES]):
        found |= _of_callback(each, f"callback.{number}")
    return found


def _of_outcome(outcome, memory_of):
    found = {"kind": outcome.kind, "xid": outcome.xid, "length": len(outcome.raw)}
    stag = outcome.invalidated
    found["invalidated"] = None if stag is None else memory_of(stag)[0]
    _walk(found, "header", outcome.header, 0)
    for name in ("read_list", "write_list"):
        entries = getattr(outcome.header, name, None)
        if entries is not None:
            found[f"header.{name}"] = len(entries)
    _walk(found, "reply", outcome.reply, 0)
    _walk(found, "result", outcome.result, 0)
    found |= {"results": bytes(outcome.results), "whole": bytes(outcome.whole)}
    for number, chunk in enumerate(outcome.chunks[:MOST_ENTRIES]):
        found[f"chunk.{number}"] = chunk
        found[f"chunk.{number}.length"] = None if chunk is None else len(chunk)
    found["reply_chunk"] = outcome.reply_chunk
    found["open"] = outcome.conn.open
    found["grant"] = getattr(outcome.conn, "grant", None)
    if outcome.conn.has_header:
        found["private_data"] = bytes(outcome.conn.server_private_data)
    found |= _of_callbacks(getattr(outcome.conn, "callbacks", None))
    return found | _words(outcome.raw)


def _words(octets):
    return {
        f"word.{number}": int.from_bytes(octets[4 * number : 4 * number + 4], "big")
        for number in range(min(MOST_WORDS, len(octets) // 4))
    }


def _walk(found, path, value, level):
    """Every plain value below a data class."""
    if level > MOST_LEVELS:
        return
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name not in ("handle", "offset"):  # of memory: chosen by chance
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


def surroundings(seen, memory_of):
    """The part of the table that is the same whenever the same happens, and what the target did."""
    found = stable(values_of(seen, memory_of))
    if isinstance(seen, Heard):
        found.pop("value", None)  # what was heard in time is in the rest of the table
    if isinstance(seen, Outcome) and seen.conn.has_header:
        found["doings"] = doings(seen.conn.recorder, seen.xid, memory_of)
    return found


def stable(values):
    """The part of the table that is the same whenever the same happens, octets by their digest."""
    return {
        path: hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value
        for path, value in values.items()
        if path.startswith(_STABLE) and not any(part in path for part in _UNSTABLE)
    }

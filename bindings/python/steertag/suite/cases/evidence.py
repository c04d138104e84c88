"""What a case judged by: what our provider refused, and the few events around the one to blame."""

import dataclasses

from ...traces.event import OCTETS, RECORD
from ...traces.stream_records import whole_records
from ...traces.trace_text import is_shown, line_text
from . import kinds

# Events before and after the one to blame.
BEFORE, AFTER = 4, 1
# Events shown where no message is to blame: the last ones.
LAST = 6


@dataclasses.dataclass(frozen=True)
class Evidence:
    """`refusal`: why our own provider refused what came, or "". `trace`: one line an event. `message`: the
    connection and the number of the target's message, if the case has read in it what it judged."""

    refusal: str
    trace: tuple
    message: tuple = ()


def evidence_of_kind(outcome):
    """The Evidence of an outcome of either suite whose kind is judged, or None."""
    if getattr(outcome, "kind", "") in (*kinds.UNANSWERED, kinds.GARBAGE):
        return _evidence(outcome, ())
    return evidence_of_value(outcome)


def evidence_of_value(outcome):
    """The Evidence of an outcome in which a value is judged, or None."""
    number = getattr(outcome, "number", 0)
    return _evidence(outcome, (outcome.conn, number) if number else ())


def _evidence(outcome, message):
    if outcome is None:
        return None
    last = (getattr(outcome, "connections", None) or [None])[-1]
    conn = getattr(outcome, "conn", None) or last
    refused = getattr(outcome, "kind", "") == kinds.VIOLATION
    trace = _of_exchange(conn, getattr(outcome, "xid", None))
    return Evidence(outcome.detail if refused else "", trace or tail(conn), message)


def _of_exchange(conn, xid):
    """The lines around the answer with this XID, or around the message that got none: it has a mark. () if there is
    neither."""
    lines = _lines(conn)
    own = [place for place, line in enumerate(lines) if xid is not None and _holds(line, xid)]
    if not own:
        return ()
    blamed = own[-1]
    after = AFTER if len(own) > 1 else BEFORE
    shown = sorted({own[0], *range(max(0, blamed - BEFORE), min(len(lines), blamed + after + 1))})
    text, following = [], shown[0]
    for place in shown:
        if place > following:
            text.append(f"  ... {place - following} more")
        following = place + 1
        text.append(line_text(lines[place], marked=place == blamed))
    return tuple(text)


def _holds(line, xid):
    """Whether the line is the message with this XID, or octets of a stream with it."""
    messages = (line.octets,) if line.kind in ("send", RECORD) else ()
    if line.kind == OCTETS:
        messages, _ = whole_records(line.octets)
    return xid.to_bytes(4, "big") in [each[:4] for each in messages]


def tail(conn):
    """The last events of a connection, one line each; none without a connection."""
    return tuple(map(line_text, _lines(conn)[-LAST:]))


def around(conn, index):
    """The lines of the events around the one with this index."""
    lines = _lines(conn)
    at = next((place for place, line in enumerate(lines) if index in line.events), len(lines))
    return tuple(map(line_text, lines[max(0, at - BEFORE) : at + AFTER + 1]))


def _lines(conn):
    lines = conn.trace_lines() if hasattr(conn, "trace_lines") else []
    return [line for line in lines if is_shown(line)]

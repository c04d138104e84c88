"""What a case judged by: what our provider refused, and the few events around the one to blame."""

import dataclasses

from ...traces.trace_text import is_shown, line_text
from . import kinds

# Events before and after the one to blame.
BEFORE, AFTER = 4, 1
# Events shown where none is to blame: the last ones.
LAST = 6


@dataclasses.dataclass(frozen=True)
class Evidence:
    """`refusal`: why our own provider refused what came, or "". `trace`: one line an event."""

    refusal: str
    trace: tuple


def evidence_of(outcome):
    """The Evidence of an outcome of either suite, or None."""
    if outcome is None:
        return None
    last = (getattr(outcome, "connections", None) or [None])[-1]
    conn = getattr(outcome, "conn", None) or last
    refused = getattr(outcome, "kind", "") == kinds.VIOLATION
    return Evidence(outcome.detail if refused else "", tail(conn))


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

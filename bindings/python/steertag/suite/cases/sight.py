"""What a judgement saw: the kind of the outcome, and the few events around it."""

import dataclasses

from ... import wire
from . import kinds

# Events before and after the one to blame.
BEFORE, AFTER = 4, 1
# Events shown where none is to blame: the last ones.
LAST = 6
# What an observer knows of its own side alone says little about the other's fault.
_LOCAL = ("receive_posted", "memory_invalidated")


@dataclasses.dataclass(frozen=True)
class Sight:
    """`refusal`: why our own provider refused what came, or "". `trace`: one line an event."""

    refusal: str
    trace: tuple


def sight_of(outcome):
    """The Sight of an outcome of either suite, or None."""
    if outcome is None:
        return None
    last = (getattr(outcome, "connections", None) or [None])[-1]
    conn = getattr(outcome, "conn", None) or last
    refused = getattr(outcome, "kind", "") == kinds.VIOLATION
    return Sight(outcome.detail if refused else "", tail(conn))


def tail(conn):
    """The last events of a connection, one line each; none without a connection."""
    if conn is None:
        return ()
    watch = getattr(conn, "watch", None)
    if watch is not None:
        return tuple(
            _line(event) for event in _shown(watch.recorder, len(watch.recorder) - 2 * LAST)
        )[-LAST:]
    text = getattr(conn, "journal_text", str)()
    return tuple(line[2:] for line in text.splitlines() if line.startswith("  #"))[-LAST:]


def around(recorder, index):
    """The lines of the events around the one with this index, which is marked."""
    shown = _shown(recorder, index - 2 * BEFORE, index)
    kept = [event for event in shown if event.index <= index][-BEFORE - 1 :]
    kept += [event for event in shown if index < event.index <= index + AFTER]
    return tuple(f"{'> ' if event.index == index else '  '}{_line(event)}" for event in kept)


def _shown(recorder, first, blamed=None):
    events = recorder.events(max(0, first))
    return [event for event in events if event.kind not in _LOCAL or event.index == blamed]


def _line(event):
    """The event; of a message, its header in place of its octets."""
    if event.kind != "send":
        return str(event)
    text = str(event).partition(" [")[0]
    lines = (line.strip() for line in wire.describe(event.bytes).splitlines())
    header = []
    for line in lines:
        if line.startswith("payload stream"):
            break
        if not line.endswith(" absent"):
            header.append(line)
    return f"{text}: {'; '.join(header)}"

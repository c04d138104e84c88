"""The decoded end of a connection's trace, for failure texts."""

from ... import wire

# Events shown, and messages decoded in full: the cause of a failure is at the end.
MOST_EVENTS = 24
MOST_DECODED = 4


def trace_text(recorder):
    """The last events, one line each, with the last messages decoded below their line."""
    start = max(0, len(recorder) - MOST_EVENTS)
    events = recorder.events(start)
    sends = [event.index for event in events if event.kind == "send"][-MOST_DECODED:]
    lines = [f"trace of {len(recorder)} events:"]
    if start:
        lines.append(f"  ... {start} earlier")
    for event in events:
        lines.append(f"  {event}")
        if event.index in sends:
            described = wire.describe(event.bytes)
            lines += [f"      {line}" for line in described.splitlines()]
    return "\n".join(lines)

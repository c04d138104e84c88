"""The decoded trace of a connection over RDMA, for failures."""

import collections

from ...trace import Role
from ...traces.capture_lines import lines_of_events
from ...traces.line import Violation
from ...traces.trace_text import trace_text

# Events that are decoded. A failure shows the last lines; replies among them find their calls further up.
MOST_EVENTS = 2048


def trace_lines(recorder, findings, messages=()):
    """[traces Line] of the last events. `findings` are CaseFindings. `messages` are [(number, requirement)] of judged
    messages of the server, which count from 1."""
    start = max(0, len(recorder) - MOST_EVENTS)
    violations = [Violation(one.event, one.id, _sentence(one), one.by_target) for one in findings]
    violations += _of_messages(recorder, messages)
    start_ns = recorder[0].time_ns if len(recorder) else None
    return lines_of_events(recorder.events(start), violations, start_ns=start_ns)


def journal_text(recorder, lines):
    """The last lines, and those that break a requirement."""
    head = f"trace of {len(recorder)} events:"
    return "\n".join([head, *(f"  {line}" for line in trace_text(lines))])


def event_places(conn):
    """{index: (kind, number)} of the connection's events: the `number`th, from 1, of this kind by its actor."""
    counts, places = collections.Counter(), {}
    for event in conn.watch.recorder.events() if hasattr(conn, "watch") else []:
        counts[event.kind, event.actor] += 1
        places[event.index] = event.kind, counts[event.kind, event.actor]
    return places


def _sentence(finding):
    return f"expected {finding.expected}; observed {finding.observed}"


def _of_messages(recorder, messages):
    sends = server_sends(recorder) if messages else []
    for number, requirement in messages:
        if 0 < number <= len(sends):
            yield Violation(sends[number - 1], requirement)


def server_sends(recorder):
    """Indexes of the server's messages."""
    events = recorder.events()
    return [one.index for one in events if one.kind == "send" and one.actor == Role.server]

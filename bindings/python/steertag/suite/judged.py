"""What the judge found on each connection of a case, of either side, in a form in which it can be held
against what a capture of the same connection shows."""

import collections

from .captured import client_port


def judged(connections):
    """[row] for the report: one for each connection that was judged, which are those over RDMA. A row has
    `port`, the client's in the capture; `findings`, each with `id`, `rule`, `culprit`, `expected`,
    `observed`, and the event that it hangs on: the `number`th (from 1) event of this `kind` by the
    `actor`; `dropped` findings beyond those that are kept, if there are any; and `sight_lost` if from some
    point on it is not judged what the target may have seen."""
    watches = [getattr(conn, "watch", None) for conn in connections]
    return [_row(watch) for watch in watches if hasattr(watch, "judge")]


def _row(watch):
    found = watch.judge.findings
    places = _places(watch.recorder, {one.event for one in found})
    row = {
        "port": client_port(watch.number),
        "findings": [
            {
                "id": one.requirement.id,
                "rule": one.rule,
                "culprit": one.culprit.name,
                **places.get(one.event, {}),
                "expected": one.expected,
                "observed": one.observed,
            }
            for one in found
        ],
    }
    if watch.judge.dropped_findings:
        row["dropped"] = watch.judge.dropped_findings
    if watch.sight_lost:
        row["sight_lost"] = True
    return row


def _places(recorder, wanted):
    """{event index: its actor, kind and number} of the wanted events, as far as they were recorded."""
    if not wanted:
        return {}
    counts, places = collections.Counter(), {}
    for event in recorder.events():
        key = event.actor.name, event.kind
        counts[key] += 1
        if event.index in wanted:
            places[event.index] = {"actor": key[0], "kind": key[1], "number": counts[key]}
    return places

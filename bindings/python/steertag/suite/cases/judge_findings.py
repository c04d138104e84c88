"""What the judge found on each connection of a case, of either side, in a form in which it can be held
against what a capture of the same connection shows."""

from ..exchange.case_capture import client_port


def connection_rows(connections, stream_ports):
    """[row] for the report: one for each connection that was judged, which are those over RDMA. A row has
    `port`, the client's in the capture; `findings`, each with `id`, `rule`, `culprit`, `expected`,
    `observed`, and the event that it hangs on: the `number`th (from 1) event of this `kind` by the
    `actor`; `dropped` findings beyond those that are kept, if there are any; `sight_lost` if from some
    point on it is not judged what the target may have seen. If that is so, or a side refused a message with
    a Terminate, the capture may show events that nobody was given here: then `events` has how many were,
    by actor and kind. The ports of streams of octets, which nobody judges, have rows with `octets`.
    """
    watches = [getattr(conn, "watch", None) for conn in connections]
    rows = [_row(watch) for watch in watches if hasattr(watch, "judge")]
    return rows + [{"port": port, "octets": True, "findings": []} for port in stream_ports]


def _row(watch):
    found = watch.judge.findings
    places, counts = _places(watch.recorder, {one.event for one in found})
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
    if watch.sight_lost or any("terminate" in kinds for kinds in counts.values()):
        row["events"] = counts
    return row


def _places(recorder, wanted):
    """{index: actor, kind and number} of the wanted events, as far as they were recorded, and
    {actor: {kind: how many there were}} of all."""
    counts, places = {"client": {}, "server": {}}, {}
    for event in recorder.events():
        own = counts[event.actor.name]
        own[event.kind] = own.get(event.kind, 0) + 1
        if event.index in wanted:
            places[event.index] = {
                "actor": event.actor.name,
                "kind": event.kind,
                "number": own[event.kind],
            }
    return places, counts

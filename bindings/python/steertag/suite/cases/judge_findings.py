"""The judge's findings on each connection of a case, for comparison with those on its capture."""

from ..exchange.case_capture import client_port


def connection_rows(connections, stream_ports):
    """[row] for the report: one for each judged connection, which are those over RDMA. A row has:

    - `port`: the client's in the capture. Over RoCE all have one, and a row has the client's
      `queue_pair` in its place.
    - `findings`: each with `id`, `rule`, `culprit`, `expected`, `observed` and its event. The event is
      the `number`th (from 1) event of this `kind` by the `actor`.
    - `dropped`: the number of findings beyond those kept, if any.
    - `sight_lost`: the judge missed events from some point on.
    - `events`: how many events the judge saw, by actor and kind. It is there with `sight_lost`, and after
      a Terminate: the capture may then show more events.

    Streams of octets are not judged: their rows have `port` and `octets`.
    """
    watches = [getattr(conn, "watch", None) for conn in connections]
    rows = [_row(watch) for watch in watches if hasattr(watch, "judge")]
    return rows + [{"port": port, "octets": True, "findings": []} for port in stream_ports]


def _end(watch):
    """What tells the connection from others in the capture."""
    if not hasattr(watch.capture, "client_queue_pair"):
        return {"port": client_port(watch.number)}
    return {"queue_pair": watch.capture.client_queue_pair}


def _row(watch):
    found = watch.judge.findings
    events = watch.recorder.events()
    places, _ = _places(events, {one.event for one in found})
    _, counts = _places(events[: watch.seen_events], set())
    row = {
        **_end(watch),
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


def _places(events, wanted):
    """{index: actor, kind and number} of the wanted ones of these events, and {actor: {kind: number}} of all."""
    counts, places = {"client": {}, "server": {}}, {}
    for event in events:
        own = counts[event.actor.name]
        own[event.kind] = own.get(event.kind, 0) + 1
        if event.index in wanted:
            places[event.index] = {
                "actor": event.actor.name,
                "kind": event.kind,
                "number": own[event.kind],
            }
    return places, counts

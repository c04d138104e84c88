"""An event of a connection as traces take it: from the engine, from a recording, or of a TCP stream."""

import dataclasses

# Kinds beside those of engine/trace: an RPC message over TCP, other octets of a stream, and a sentence in
# `fields["text"]` about the connection.
RECORD, OCTETS, NOTE = "record", "octets", "note"
# What an observer knows of its own side alone: it passes no wire.
LOCAL_KINDS = ("memory_offered", "memory_invalidated", "receive_posted")
RDMA_KINDS = ("rdma_write", "rdma_read", "rdma_read_response")


@dataclasses.dataclass(frozen=True)
class Event:
    """One event. `fields` are those of its kind (see engine/trace/event.h)."""

    index: int  # within the connection, from 0
    actor: str  # "client" or "server"
    kind: str
    fields: dict
    time_ns: int | None = None
    last: int = -1  # index of the last event of merged RDMA Writes or Reads; -1: `index`

    @property
    def end(self):
        """The index of its last event."""
        return max(self.index, self.last)


def of_engine(event):
    """From a trace.Event of a recorder or capture."""
    return Event(event.index, event.actor.name, event.kind, event.fields, event.time_ns)


def merged(events, begins):
    """The events; consecutive RDMA Writes, Reads or Responses of touching ranges are one. An event that
    `begins(event)` says begins a segment does not belong to what is before it."""
    run = []
    for event in events:
        if run and (not _touches(run[-1], event) or begins(event)):
            yield _whole(run)
            run = []
        run.append(event)
    if run:
        yield _whole(run)


def place(event):
    """(STag, offset) of an RDMA Write, Read or Read Response."""
    start = {"rdma_read": "source_", "rdma_read_response": "sink_"}.get(event.kind, "")
    return event.fields[f"{start}stag"], event.fields[f"{start}offset"]


def _touches(before, event):
    if before.kind not in RDMA_KINDS or (before.kind, before.actor) != (event.kind, event.actor):
        return False
    (stag, offset), length = place(before), before.fields["length"]
    return stag is not None and place(event) == (stag, offset + length)


def _whole(run):
    if len(run) == 1:
        return run[0]
    fields = dict(run[0].fields)
    fields["length"] = sum(each.fields["length"] for each in run)
    if "payload" in fields:
        fields["payload"] = b"".join(bytes(each.fields["payload"]) for each in run)
    return dataclasses.replace(run[0], fields=fields, last=run[-1].index)

"""What a target did over RDMA because of one call: its events in order, free of what is chosen by chance."""

from ...trace import Role

# Those of one call are few, but for floods.
MOST_DOINGS = 256
_ENDS = ("terminate", "disconnect")


def doings(recorder, xid, memory_of):
    """Lists of a word and what it is about: "rdma_write" or "rdma_read" with the name of the memory and
    the range in it, touching ranges as one; "send" with the memory that it invalidates; an end.
    `memory_of(stag)` gives the name and the base of memory."""
    found = []
    for event in _since_call(recorder.events(), xid):
        if event.actor != Role.server:
            continue
        each = _doing(event, memory_of)
        if each is None:
            continue
        if found and len(each) == 4 and _continues(found[-1], each):
            found[-1] = [*found[-1][:3], each[3]]
        elif len(found) < MOST_DOINGS:
            found.append(each)
    return found


def _since_call(events, xid):
    """The events from the last message of ours with this XID on; all if there is none."""
    octets = None if xid is None else xid.to_bytes(4, "big")
    start = 0
    for place, event in enumerate(events):
        if event.kind == "send" and event.actor == Role.client and event.bytes[:4] == octets:
            start = place
    return events[start:]


def _doing(event, memory_of):
    if event.kind == "rdma_write":
        return ["rdma_write", *_range(event.stag, event.offset, event.length, memory_of)]
    if event.kind == "rdma_read":
        place = event.source_stag, event.source_offset, event.length
        return ["rdma_read", *_range(*place, memory_of)]
    if event.kind == "send":
        return ["send", None if event.invalidated is None else memory_of(event.invalidated)[0]]
    return [event.kind] if event.kind in _ENDS else None


def _range(stag, offset, length, memory_of):
    """The memory's name with first and last place in it; without places if it is none of ours."""
    name, base = memory_of(stag)
    return (name,) if base is None else (name, offset - base, offset - base + length)


def _continues(before, each):
    return before[:2] == each[:2] and before[3:] == each[2:3]

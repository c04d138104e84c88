"""Sentences on the parts of a file that were not judged, with the reason."""

from .counting import counted

# The usual way to record whole packets.
_WHOLE = "record whole packets (tcpdump -s 0)"
# Of several kinds of losses, the first is named: it may cause the others.
_KINDS = ("cut", "joined", "missing", "damaged", "overflow")


def shortfalls(graded):
    """The sentences; none if every connection was judged, at least in part."""
    if graded.report is None:
        return
    if not graded.packets:
        yield "nothing was judged: there is no packet in it"
    elif not graded.connections_in_all:
        yield f"nothing was judged: {_no_connection(graded)}"
    elif not graded.messages_judged:
        yield f"nothing was judged: {_no_message(graded)}"
    elif graded.report.connections_unjudged:
        yield (
            f"{graded.report.connections_unjudged} of {graded.connections_in_all} connections were not "
            f"judged: no message of theirs is whole in the capture{_why(graded)}"
        )
    yield from _too_many(graded)


def _no_connection(graded):
    sentence = "no RPC-over-RDMA connection was found in it"
    if graded.cut_packets:
        sentence += (
            f"; {graded.cut_packets} of {counted(graded.packets, 'packet', 'packets')} are cut short (the "
            f"first is packet {graded.first_cut}), which can hide one: {_WHOLE}"
        )
    return sentence


def _no_message(graded):
    number = counted(graded.connections_in_all, "connection", "connections")
    if graded.report.connections_unjudged:
        return f"no message of its {number} is whole in the capture{_why(graded)}"
    if graded.report.connections_refused:
        return f"none of its {number} could be followed"
    return f"no message was seen on its {number}"


def _why(graded):
    """A reason and its first packet; nothing if no summary of such a connection is kept."""
    losses = [
        (_KINDS.index(kind), loss["first_frame"], loss["sentence"])
        for one in graded.connections
        if not one.messages and one.optimistic is None
        for kind, loss in one.losses.items()
    ]
    if not losses:
        return ""
    kind, frame, sentence = min(losses)
    remedy = f": {_WHOLE}" if _KINDS[kind] == "cut" else ""
    return f", because {sentence} (first seen at packet {frame}){remedy}"


def _too_many(graded):
    refused, forgotten = graded.report.connections_refused, graded.forgotten
    if refused:
        were = counted(refused, "connection was", "connections were")
        yield f"{were} not judged: too many were open at once"
    if forgotten:
        were = counted(forgotten, "connection was", "connections were")
        yield f"{were} evicted before the end: too many were open at once"

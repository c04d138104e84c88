"""The report as text, in ASCII of at most WIDTH columns; only names of files and decoded lines may be longer."""

import textwrap

from ..files.escape import printable
from ..verdict import Verdict
from .counting import counted
from .grade_document import thresholds
from .folded import folded
from .graded import Status, connection_counts
from .shortfalls import shortfalls

WIDTH = 100
# Too many to read in a terminal; the JSON lists the others.
MOST_LISTED = 500
MOST_CONNECTIONS_LISTED = 200
WORDS = {
    Verdict.FAIL: ("violation", "violations"),
    Verdict.WARN: ("warning", "warnings"),
    Verdict.LATITUDE: ("note", "notes"),
}
NOT_KEPT = ("further finding that is not kept", "further findings that are not kept")
_HEAD = ("frame", "conn", "side", "level", "requirement", "section")
_LABEL = 12  # columns of a label in the summary of a connection


def ascii_of(text):
    """The text in ASCII, with escapes for control characters."""
    return printable(text).encode("ascii", "backslashreplace").decode("ascii")


def file_name(graded):
    return "standard input" if graded.path == "-" else ascii_of(graded.path)


def findings(rows, lines=None, verbose=False):
    """The table of findings: a line of columns for each, then the broken requirement. Those that repeat are folded
    into the first of them. `lines` are the FindingLines of the file: the decoded event follows."""
    if not rows:
        return
    folds = folded(rows)
    listed = folds[:MOST_LISTED]
    cells = [_HEAD, *(_cells(fold.first) for fold in listed)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    yield _line(cells[0], widths)
    for fold, line in zip(listed, cells[1:], strict=True):
        row = fold.first
        yield _line(line, widths)
        yield from _block("", row.sentence)
        yield from _block("expected ", row.expected)
        yield from _block("observed ", row.observed)
        if fold.repeated:
            yield from _block("", fold.frames(None if lines is None else lines.operation_of))
        if lines is not None:
            yield from (f"      {ascii_of(each)}" for each in lines.text(row, verbose))
    if len(folds) > MOST_LISTED:
        yield f"... and {len(folds) - MOST_LISTED} more, which --json lists"


def _cells(row):
    numbers = str(row.frame), str(row.connection)
    return (*numbers, row.culprit, row.level, row.requirement.id, row.place)


def _line(cells, widths):
    numbers = [cell.rjust(width) for cell, width in zip(cells[:2], widths[:2], strict=True)]
    words = [cell.ljust(width) for cell, width in zip(cells[2:], widths[2:], strict=True)]
    return "  ".join((*numbers, *words)).rstrip()


def _block(label, text):
    """Lines below a finding's columns."""
    start = f"        {label}"
    yield from textwrap.wrap(
        ascii_of(text), WIDTH, initial_indent=start, subsequent_indent=" " * len(start)
    )


def connections(graded):
    """A paragraph for each connection."""
    for one in graded.connections[:MOST_CONNECTIONS_LISTED]:
        yield ascii_of(
            f"connection {one.number}  {one.fabric}  "
            f"{one.client_end} (client), {one.server_end} (server)"
            f"{'' if one.optimistic is None else ', optimistic'}"
        )
        for label, text in _summary(one):
            yield from textwrap.wrap(
                ascii_of(text),
                WIDTH,
                initial_indent=f"  {label:<{_LABEL}}",
                subsequent_indent=" " * (_LABEL + 2),
            )
    hidden = len(graded.connections) - MOST_CONNECTIONS_LISTED
    if hidden > 0:
        yield f"... and {hidden} more connections, which --json lists"
    unkept = graded.connections_in_all - len(graded.connections)
    if unkept > 0:
        yield f"... and {unkept} more connections without a summary"


def _summary(one):
    """(label, text) of each line."""
    yield "frames", _frames(one)
    if one.optimistic is not None:
        yield from _optimistic(one)
        return
    yield "thresholds", _thresholds(one)
    for name, way in (("forward", one.forward), ("reverse", one.reverse)):
        if name == "forward" or way.calls or way.replies or way.errors:
            yield from _direction(name, way)
    for name, side in (("server", one.server), ("client", one.client)):
        if name == "server" or side.placed_bytes or side.reads:
            octets = counted(side.read_bytes, "octet", "octets")
            yield f"RDMA {name}", (
                f"placed {counted(side.placed_bytes, 'octet', 'octets')} by RDMA Write, "
                f"read {octets} by {counted(side.reads, 'RDMA Read', 'RDMA Reads')}"
            )
    yield "messages", ", ".join(f"{kind} {count}" for kind, count in one.messages.items()) or "none"
    if one.references or one.fallbacks:
        yield "direct", (
            f"{counted(one.references, 'reference', 'references')} granted, {one.fallbacks} reads by RPC "
            "after an optimistic one that failed"
        )
    yield from _judged(one)


def _optimistic(one):
    """The same of an optimistic connection."""
    hello, reads = one.optimistic["hello_frame"], one.optimistic["reads"]
    yield "optimistic", (
        f"opened by the ticket of HELLO's reply in frame {hello}"
        if hello
        else "no reply to HELLO with its ticket was seen"
    )
    kinds = ", ".join(f"{kind} {count}" for kind, count in reads.items()) or "none"
    octets = counted(one.client.read_bytes, "octet", "octets")
    yield "reads", f"{kinds}; {octets} by {counted(one.client.reads, 'RDMA Read', 'RDMA Reads')}"
    yield from _judged(one)


def _judged(one):
    for loss in one.losses.values():
        times = counted(loss["count"], "time", "times")
        frames = f"frames {loss['first_frame']} to {loss['last_frame']}"
        yield "not seen", f"{loss['sentence']} ({times}, {frames}): what needs it is not judged"
    for name, side in (("client", one.client), ("server", one.server)):
        if side.wrong_crcs is not None:
            yield "wrong CRC", _wrong_crcs(name, side.wrong_crcs)
    if one.findings_undecided:
        findings = counted(one.findings_undecided, "finding is", "findings are")
        yield "undecided", (
            f"{findings} not listed: packets that are missing or out of order in the capture may explain "
            "what was seen"
        )
    yield "verdict", (
        _verdict_of(one)
        if one.messages or one.findings_in_all or one.optimistic
        else "nothing judged: no whole message was seen"
    )


def _wrong_crcs(name, wrong):
    have = counted(wrong["count"], "packet of the", "packets of the")
    verb = "has" if wrong["count"] == 1 else "have"
    frames = (
        f"frame {wrong['first_frame']}"
        if wrong["count"] == 1
        else f"frames {wrong['first_frame']} to {wrong['last_frame']}"
    )
    return (
        f"{have} {name} {verb} a wrong invariant CRC ({frames}): a receiver drops such a packet, unless "
        "the sender's device computes the CRC after the capture"
    )


def verdict(counts, unclassified=0):
    """ "2 violations, 1 warning" """
    parts = [counted(counts[each], *words) for each, words in WORDS.items() if counts[each]]
    if unclassified:
        parts.append(counted(unclassified, *NOT_KEPT))
    return ", ".join(parts) or "nothing found"


def _verdict_of(one):
    unlisted = f" ({one.findings_dropped} of them counted, not listed)"
    return verdict(connection_counts(one)) + (unlisted if one.findings_dropped else "")


def _frames(one):
    seconds = (one.last_time_ns - one.first_time_ns) / 1e9
    if one.rejected:
        end = "rejected"
    elif one.ended:
        end = "ended in order" if one.ended_clean else "ended abruptly"
    else:
        end = "open at the capture's end"
    return f"{one.first_frame} to {one.last_frame}, {seconds:.3f} s, {end}"


def _thresholds(one):
    found = thresholds(one)
    announced = "; ".join(
        f"{name} announced {_announced(side)}"
        for name, side in (("client", one.client), ("server", one.server))
        if side.opening_seen
    )
    if found["source"] == "unknown":
        values = "unknown: the connection's setup was not seen whole"
        return f"{values}; {announced}" if announced else values
    values = f"{found['to_server_bytes']} to the server, {found['to_client_bytes']} to the client"
    invalidation = "" if found["remote_invalidation"] else "no "
    return f"{values} ({found['source']}), {invalidation}remote invalidation; {announced}"


def _announced(side):
    if side.announced is None:
        return "nothing"
    flag = ", R" if side.announced["remote_invalidation"] else ""
    sizes = side.announced["send_bytes"], side.announced["receive_bytes"]
    return f"send {sizes[0]}, receive {sizes[1]}{flag}"


def _direction(name, way):
    yield name, (
        f"{counted(way.calls, 'call', 'calls')}, {counted(way.replies, 'reply', 'replies')}, "
        f"{way.errors} RDMA_ERROR, {way.unanswered} unanswered"
    )
    yield "  credits", (
        f"asked for up to {way.largest_requested}, granted up to {way.largest_granted} "
        f"(last {way.last_granted}), {way.most_in_flight} in flight at most"
    )
    yield "  chunks", (
        f"{counted(way.read_segments, 'read segment', 'read segments')}, "
        f"{counted(way.position_zero_chunks, 'position-zero chunk', 'position-zero chunks')}, "
        f"{counted(way.write_chunks, 'write chunk', 'write chunks')}, "
        f"{counted(way.reply_chunks, 'reply chunk', 'reply chunks')}"
    )


def totals(graded):
    """A line on the file as a whole."""
    if graded.report is None:
        return
    packets = counted(graded.packets, "packet", "packets")
    notes = [f"{graded.packets - graded.other_packets} recognized as RDMA"]
    if graded.cut_packets:
        notes.append(f"{graded.cut_packets} cut short")
    found = verdict(graded.counts, graded.unclassified)
    if graded.status is Status.NOTHING:
        found = "nothing judged"
    connections_read = counted(
        graded.connections_in_all, "RPC-over-RDMA connection", "RPC-over-RDMA connections"
    )
    optimistic = sum(each.optimistic is not None for each in graded.connections)
    if optimistic:
        connections_read += f" ({optimistic} of them optimistic)"
    yield f"{file_name(graded)}: {packets} ({', '.join(notes)}), {connections_read}: {found}"


def unjudged(graded):
    """Lines on what of the file was not judged."""
    for sentence in shortfalls(graded):
        yield from textwrap.wrap(
            ascii_of(sentence), WIDTH, initial_indent="  ", subsequent_indent="  "
        )


def error(graded):
    """What is wrong with the file, or None."""
    if graded.error is None:
        return None
    graded_part = "; the part before it was graded" if graded.report else ""
    return ascii_of(f"{graded.error}{graded_part}")

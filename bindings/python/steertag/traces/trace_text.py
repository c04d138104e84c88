"""Lines as text, the same wherever they are printed."""

from .. import wire
from .event import LOCAL_KINDS
from .line import MARK

# Lines of a failure: its cause is mostly at the end.
MOST_LINES = 24
# Lines before the end that are shown because they break a requirement, with as many before each.
MOST_MARKED, LINES_BEFORE = 8, 2
# Lines of octets below what is no message.
MOST_OCTET_LINES, OCTETS_IN_LINE = 16, 16
# Requirements named behind a line.
MOST_NAMED = 4


def line_text(line, connection="", marked=False):
    """One line: number or numbers, time in seconds, `connection`, direction and text. It has a mark if the target breaks
    a requirement, or if `marked`. The ids of what is broken end it."""
    mark = MARK if line.is_marked or marked else " "
    time = "" if line.time_s is None else f" {line.time_s:9.6f}"
    where = f" {connection}" if connection else ""
    number = f"{line.number}-{line.last}" if line.last > line.number else line.number
    return f"{mark} #{number:<4}{time}{where} {line.direction} {line.text}{_broken(line)}"


def octet_text(line):
    """Lines below a message: its header field by field, then its octets; of the payload of an RDMA Write the first."""
    if line.kind == "send":
        described = wire.describe(line.octets).splitlines()
    else:
        step = OCTETS_IN_LINE
        places = range(0, min(len(line.octets), MOST_OCTET_LINES * step), step)
        described = [line.octets[at : at + step].hex(" ", 4) for at in places]
        if len(line.octets) > MOST_OCTET_LINES * step:
            described.append(f"... {len(line.octets)} octets")
    yield from (f"        {each}" for each in described)


def is_shown(line, verbose=False):
    """What an observer knows of its own side alone is shown if it breaks a requirement, or verbosely."""
    return verbose or line.kind not in LOCAL_KINDS or bool(line.violations)


def trace_text(lines, verbose=False):
    """[text] of a failure's lines, those of `shown_lines`, and how many are left out between them."""
    text, following = [], 0
    listed = [line for line in lines if is_shown(line, verbose)]
    for place in _kept(listed):
        if place > following:
            text.append(f"  ... {place - following} more")
        following = place + 1
        text.append(line_text(listed[place]))
        if verbose:
            text += octet_text(listed[place])
    return text


def shown_lines(lines):
    """The lines that a failure shows: the last ones, and those that break a requirement."""
    listed = [line for line in lines if is_shown(line)]
    return [listed[place] for place in _kept(listed)]


def _kept(lines):
    """Places of the lines that are shown, in order."""
    first = max(0, len(lines) - MOST_LINES)
    marked = [place for place, line in enumerate(lines[:first]) if line.is_marked][:MOST_MARKED]
    near = {each for place in marked for each in range(max(0, place - LINES_BEFORE), place + 1)}
    return sorted(near | set(range(first, len(lines))))


def _broken(line):
    text = ""
    for by_target, whose in ((True, ""), (False, " (our side)")):
        found = [each.requirement for each in line.violations if each.by_target is by_target]
        ids = list(dict.fromkeys(found))
        if ids:
            more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
            text += f"  breaks {', '.join(ids[:MOST_NAMED])}{more}{whose}"
    return text

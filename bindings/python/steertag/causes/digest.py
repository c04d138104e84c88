"""The digest of a run: its causes as lines of text, the largest first."""

import os
import re

from ..files.escape import printable
from ..traces.line import MARK
from .case_cause import CRASH, HARNESS, JUDGED, PREPARING, REFUSED, RULE
from .cause_key import normalised
from .fold import fold

# Lines of the causes that have a trace and commands each, after which the next have an example only. A whole
# run prints fewer than 200 lines.
LINES_IN_FULL = 90
MOST_IN_SHORT = 10
# Warnings in one line each.
MOST_WARNINGS = 5
# Requirements named that were broken after a cause.
MOST_FOLLOWING = 3
# The folder of the report directory with all that was noted of a case.
TEXTS = "texts"
_XID = re.compile(r"xid 0x[0-9a-f]{8}\b")
# Characters of a line, without those of a clause, which is never cut.
WIDTH = 116


def digest(run, directory):
    """Lines for a run_cases.RunCases whose report is in `directory`; none if nothing went wrong."""
    causes, warnings = fold(run.failed), fold(run.warned)
    where, more = shown_path(directory), 0
    if causes:
        yield f"{_counts(causes)}{headline(causes[0], run.clauses)}"
        more = yield from _failures(causes, run.clauses, where)
    if warnings:
        yield f"{_counts(warnings, 'warning')}{headline(warnings[0], run.clauses)}"
        yield from (_numbered(each, run.clauses) for each in warnings[1 : 1 + MOST_WARNINGS])
    if causes or warnings:
        unnamed = f"{counted(more, 'more cause')}, and " if more else ""
        yield f"{unnamed}all cases of a cause: steertag causes {where} --cause N"


def _counts(causes, noun="cause"):
    """ "1 cause, 1,432 cases: ", or the same with what most cases have."""
    cases = sum(len(cause.cases) for cause in causes)
    start = f"{counted(len(causes), noun)}, {counted(cases, 'case')}"
    if len(causes) == 1:
        return f"{start}: "
    return f"{start}; in {len(causes[0].cases):,} of them: "


def _failures(causes, clauses, where):
    """Lines of the causes: the first in full, some more in short. Returns how many have none."""
    left, number = LINES_IN_FULL, 0
    for number, cause in enumerate(causes):
        lines = [*details(cause, clauses, where), ""]
        left -= len(lines)
        if number and left < 0:
            break
        if number:
            yield _numbered(cause, clauses)
        yield from lines
    else:
        return 0
    for cause in causes[number:][:MOST_IN_SHORT]:
        yield _numbered(cause, clauses)
        yield from _row(
            "example",
            f"{cause.example.id}: steertag causes {where} --cause {cause.number}",
            cut=False,
        )
    return max(0, len(causes) - number - MOST_IN_SHORT)


def _numbered(cause, clauses):
    return (
        f"{cause.number}. {counted(len(cause.cases), 'case')}: {headline(cause, clauses)}"
        f"{_relation(cause)}"
    )


def headline(cause, clauses):
    """What is wrong, in a sentence of the ledger where there is one."""
    case = cause.example
    kind, text = case.cause.kind, printable(case.cause.text)
    who = "client" if case.id.startswith("client.") else "server"
    if kind == HARNESS and text.startswith(PREPARING):
        return f"the {who} refuses what cases need; can the suite write to the export? {_cut(text)}"
    if kind == HARNESS:
        return f"an error of the suite, not of the {who}: {_cut(text)}"
    if kind == REFUSED:
        return f"the {who} sends what the suite's RDMA provider refuses: {normalised(text)}"
    clause = printable(clauses.get(cause.requirement, cause.requirement))
    if kind == CRASH:
        return f"the {who} crashed: {_cut(text)}"
    if not clause:
        expected = f", not {printable(case.cause.expected)}" if case.cause.expected else ""
        return f"{case.verdict}: {_cut(text + expected)}"
    return f"the {who} breaks {clause}"


def _relation(cause):
    """How the cause relates to larger ones, in brackets."""
    words = [
        f"also after cause {number} in {counted(count, 'case')}"
        for number, count in cause.after.items()
    ]
    if cause.perhaps is not None:
        words.append(f"perhaps the same as cause {cause.perhaps}")
    return f" ({'; '.join(words)})" if words else ""


def details(cause, clauses, where):
    """One example of the cause with its trace, and the commands that show more."""
    case = cause.example
    found = case.cause
    if found.kind in (RULE, JUDGED, REFUSED):
        yield from _row("seen", found.text)
    if found.expected:
        yield from _row("expected", found.expected)
    place = "" if found.event is None else f", connection {found.connection}, event {found.event}"
    yield from _row("example", f"{case.id}{place}")
    for line in map(printable, found.trace):
        yield f"    {line if _is_whole(line, found.trace) else _cut(line)}"
    if len(cause.verdicts) > 1 or case.verdict != "fail":
        yield from _row("verdicts", ", ".join(f"{n:,} {v}" for v, n in cause.verdicts.items()))
    if cause.follows:
        yield from _row("after it", _following(cause, clauses), cut=False)
    if found.requirement:
        yield from _row("clause", f"steertag explain {found.requirement}")
    text = f"{where}/{TEXTS}/{case.id}.txt"
    if os.path.exists(text):
        yield from _row("in full", text, cut=False)
    if case.replay:
        yield from _row("again", f"steertag replay {where}/{case.replay}", cut=False)
    if case.capture:
        yield from _row("capture", f"{where}/{case.capture}", cut=False)


def _is_whole(line, trace):
    """Whether a line is not cut: what is wrong, and the call that it answers."""
    marked = next((each for each in trace if each.startswith(MARK)), "")
    xid = _XID.search(marked)
    return line.startswith(MARK) or (xid is not None and xid[0] in line and "; CALL " in line)


def _following(cause, clauses):
    """What was broken later in the same cases."""
    named = [
        f"{_section(clauses.get(name, name))} in {counted(count, 'case')}"
        for name, count in cause.follows[:MOST_FOLLOWING]
    ]
    more = len(cause.follows) - MOST_FOLLOWING
    return ", ".join(named) + (f", and {more} more requirements" if more > 0 else "")


def _section(clause):
    """ "RFC 8166 3.3.1" of "RFC 8166 3.3.1 (MUST NOT): ..." """
    return clause.partition(":")[0].partition(" (")[0]


def _row(label, text, cut=True):
    line = f"  {label:<9} {printable(text)}"
    yield _cut(line) if cut else line


def _cut(line):
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 4]} ..."


def counted(number, noun):
    """ "1 case", "1,432 cases" """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shown_path(path):
    """The path as it can be typed here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative

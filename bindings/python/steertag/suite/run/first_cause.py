"""The cause of a case that went wrong: the first violation of the peer under test, else what was judged."""

import re

from ... import requirements as ledger
from ...causes import case_cause
from ...causes.case_cause import CaseCause
from ...causes.cause_key import split_reason
from ...verdict import Verdict, verdict_of_level
from ..cases.evidence import around, tail
from ..rdma.journal import server_sends

# Lines of a Python error that name it.
ERROR_LINES = 4
# What expectation.py notes of an outcome or a value.
_JUDGED = re.compile(r"(?P<what>.+: )?expected (?P<expected>.+), saw (?P<seen>.+)")


def first_cause(run, connections):
    """The CaseCause of a finished run; None if it went well.

    A crash is a cause of its own. Of fails and hangs, the judge's first violation leads. It came earlier
    on the wire than what the case judged, or the case saw no answer because of it. In one message, what the
    case claims leads. A violation that only warns explains no failure."""
    verdict = run.verdict
    if not (verdict.spoils_run or verdict is Verdict.WARN):
        return None
    note = next(note for note in run.notes if note.verdict is verdict)
    if verdict is Verdict.HARNESS_ERROR:
        return _of_error(note)
    if verdict is Verdict.CRASH:
        return CaseCause(case_cause.CRASH, text=note.reason, trace=_trace(note, connections))
    weight = Verdict.WARN if verdict is Verdict.WARN else Verdict.FAIL
    found = [each for each in run.violations if _verdict(each[0]) is weight]
    if found:
        first = min(found, key=lambda each: _place(run, each))
        judged = _judged_there(run, first, weight)
        return _of_violation(run, found, first) if judged is None else _of_claim(run, found, judged)
    requirement, text = split_reason(note.reason)
    trace = _trace(note, connections)
    if note.evidence is not None and note.evidence.refusal:
        return CaseCause(case_cause.REFUSED, text=note.evidence.refusal, trace=trace)
    return CaseCause(case_cause.JUDGED, requirement, "", *_seen_and_expected(text), trace=trace)


def _seen_and_expected(text):
    """The parts of "WHAT: expected A, saw B"; other texts say what was seen alone."""
    found = _JUDGED.fullmatch(text)
    if found is None:
        return text, ""
    what = found["what"] or ""
    return what + found["seen"], found["expected"]


def _verdict(finding):
    return verdict_of_level(ledger.level(ledger.find(finding.id)))


def _of_error(note):
    lines = note.detail.rstrip().splitlines()
    words = [note.reason]
    if lines and not note.reason.startswith(case_cause.PREPARING):  # behind that one stands a trace
        words.append(lines[-1].strip())
    text = ": ".join(dict.fromkeys(words))
    return CaseCause(case_cause.HARNESS, text=text, trace=tuple(lines[-ERROR_LINES:]))


def _judged_there(run, first, weight):
    """What the case judged itself in the message of the first violation, which breaks a row that the case
    does not claim; or None. A claim is about this message, and the rule about any."""
    finding, conn = first
    if finding.id in run.requirements:
        return None
    for note in run.notes:
        if note.verdict is weight and note.evidence is not None and note.evidence.message:
            where, number = note.evidence.message
            if (
                where is conn
                and finding.event in server_sends(conn.watch.recorder)[number - 1 : number]
            ):
                return note
    return None


def _of_claim(run, found, note):
    requirement, text = split_reason(note.reason)
    later = _later(run, found, requirement)
    seen = _seen_and_expected(text)
    return CaseCause(
        case_cause.JUDGED, requirement, "", *seen, trace=note.evidence.trace, follows=later
    )


def _of_violation(run, found, first):
    finding, conn = first
    return CaseCause(
        case_cause.RULE,
        finding.id,
        finding.rule,
        finding.observed,
        finding.expected,
        connection=conn.watch.number,
        event=finding.event,
        trace=around(conn, finding.event),
        follows=_later(run, found, finding.id),
    )


def _place(run, violation):
    """Of violations in one event, those that the case claims come first."""
    return *_time(violation), violation[0].id not in run.requirements


def _time(violation):
    """Orders the events of all connections of a case by the one clock of its observers."""
    finding, conn = violation
    recorder = conn.watch.recorder
    time_ns = recorder[finding.event].time_ns if finding.event < len(recorder) else 0
    return time_ns, conn.watch.number, finding.event


def _later(run, found, first):
    """The requirements but for `first` that the judge or the case found broken, each once."""
    judged = [split_reason(note.reason)[0] for note in run.notes if note.verdict.spoils_run]
    others = [finding.id for finding, _ in sorted(found, key=_time)] + judged
    return tuple(dict.fromkeys(each for each in others if each not in ("", first)))


def _trace(note, connections):
    if note.evidence is not None and note.evidence.trace:
        return note.evidence.trace
    return tail(connections[-1]) if connections else ()

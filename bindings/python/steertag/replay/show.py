"""Prints a recording as a script: one line a message, decoded, then the expectation that failed."""

import dataclasses

from ..failure import Failure
from ..suite.cases.transport import RDMA, TCP
from ..suite.recording.recording_file import CLIENT
from ..traces.capture_lines import lines_of_capture
from ..traces.line import Violation
from ..traces.trace_text import is_shown, line_text, octet_text
from .step_lines import StepLines

# Steps of what the target did, and the kinds of their events on the fabric.
_CAME = {"received": "send", "accepted": "accept", "rejected": "reject"}
_CAME |= {"rdma_write": "rdma_write", "rdma_read": "rdma_read"}


def script(recording, verbose=False):
    """Lines of text. Raises Failure if the file holds no message."""
    lines = script_lines(recording)
    if not lines:
        raise Failure("the recording holds no messages to show")
    for line in lines:
        yield line_text(line, line.connection)
        if verbose:
            yield from octet_text(line)
    marked = next((line.number for line in lines if line.is_marked), None)
    where = f" at #{marked}" if marked else ""
    yield f"{recording.verdict}{where}: {recording.reason}"


def script_lines(recording):
    """[Line]: of a client's recording those of its capture, then those of the steps. They count from 1. Messages that
    break a requirement are marked."""
    lines = []
    if recording.tests == CLIENT and recording.capture:
        lines += [
            dataclasses.replace(line, connection=f"c{line.connection}")
            for line in lines_of_capture(recording.capture)
            if is_shown(line)
        ]
    marks = _marks(recording)
    for number, line in StepLines(_is_over_tcp(recording)).lines(recording.steps):
        violations = tuple(Violation(line.number, each) for each in marks.get(number, ()))
        lines.append(dataclasses.replace(line, violations=violations))
    numbered = enumerate(lines, start=1)
    return [dataclasses.replace(line, number=place, last=-1) for place, line in numbered]


def _is_over_tcp(recording):
    return getattr(recording.target, "over", RDMA) == TCP


def _marks(recording):
    """{number of a step: [requirement]} of the steps that rules and the failed judgement are about."""
    marks = {}
    came = {}  # (connection, kind of event): [(how many events so far, number of the step)]
    for step in recording.steps:
        if step.kind in _CAME:
            own = came.setdefault((step.subject, _CAME[step.kind]), [(0, None)])
            own.append((own[-1][0] + step.fields.get("events", 1), step.number))
    for finding in recording.findings:
        own = came.get((finding.get("connection"), finding.get("kind")), [])
        step = next((step for count, step in own if finding["number"] <= count), None)
        if step is not None:
            marks.setdefault(step, []).append(finding["id"])
    judged, requirement = _judged(recording)
    if judged is not None:
        marks.setdefault(judged, []).append(requirement)
    return marks


def _judged(recording):
    """(number of the step, requirement) of the failed judgement; (None, "") if it is about no message."""
    judged = [step for step in recording.steps if step.kind in ("expect", "check")]
    if not judged:
        return None, ""
    fields = judged[-1].fields
    told = fields["reason"] if judged[-1].kind == "check" else f"{fields['requirement']}: "
    return (fields["seen"], told.partition(":")[0]) if told in recording.reason else (None, "")

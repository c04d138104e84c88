"""Executes one case: runs its function, then everything that follows every case, and gives the record."""

import dataclasses
import re
import traceback

import pytest

from ... import requirements as ledger
from ...files.escape import harmless, harmless_lines
from ...verdict import Verdict, verdict_of_level
from ..cases.case_end import CaseEnd
from ..cases.case_run import running, Stumble, TRACE
from ..cases.judge_findings import connection_rows
from ..cases.trace_rows import trace_rows
from ..exchange.link import Refused
from ..rdma.journal import event_places
from .baseline_check import is_different
from .case_time import AFTER_CASE_S, CASE_S, within
from .first_cause import first_cause
from .options import make_report_directory
from .report import CAPTURES, FAILURES, Record


# Files without lines of a case.
_HARNESS = re.compile("/steertag/(suite|replay)/")


class SteertagWarning(UserWarning):
    """A case ended with the verdict warn."""


def execute(session, function):
    """Runs the case that `session.prepare` announced; returns its Record. Only KeyboardInterrupt and
    pytest.exit pass through."""
    run = session.run
    with running(run):
        try:
            session.check_needs(run.case)
        except CaseEnd as end:
            run.end(end)
            return record_of(run)
        _guarded(run, lambda: _timed(run, function))
        bench = session.bench()
        conclude(session, run, bench)
        if run.fallback and not run.verdict.spoils_run:
            run.note(*run.fallback, "it did not fail when it was done once more")
        return _kept(session, run, bench)


def judged_contact(session, run, bench, sentence, recorded, claim=None):
    """The Record of a first contact that ended the run, as `sentence` says. None if the peer under test broke no
    requirement in it. `recorded`: a replay can make the contact again. `claim`: a CaseEnd that counts where the judge
    has found nothing."""
    with running(run):
        run.recorder.over()
        _judge(run, bench)
        if claim is not None and not run.notes:
            run.end(claim)
        if not any(note.verdict in (Verdict.FAIL, Verdict.HANG) for note in run.notes):
            return None
        run.epilogue += f"no case can run: {sentence}"
        _trace(run, bench)
        bench.close()
        make_report_directory(session.options.report)
        return _kept(session, run, bench, recorded)


def _kept(session, run, bench, recorded=True):
    """The Record of a finished run. Its capture, recording and text go to the report directory."""
    files = session.files_of(run, first_cause(run, bench.connections))
    _guarded(run, lambda: files.keep_capture(bench, _is_improvement(run, session.options)))
    if recorded:
        _guarded(run, lambda: files.keep_recording(session.recording_of))
    run.judge_stumbles()
    record = record_of(run)
    record.cause = _cause_row(run, bench)
    _guarded(run, lambda: files.keep_text(record.detail))
    return record


def _is_improvement(run, options):
    return run.verdict is Verdict.PASS and is_different(record_of(run), options.baseline)


def _timed(run, function):
    with within(CASE_S, "the case"):
        _logged(run, function)


def _logged(run, function):
    """Calls `function`; the log of the case has the failure that ends it."""
    try:
        function()
    except CaseEnd as end:
        if end.verdict in (Verdict.FAIL, Verdict.HANG):
            run.recorder.ended(end.reason, end.verdict)
        raise


def conclude(session, run, bench):
    """What follows every case: its connections end, the target is looked at, what was seen is judged."""
    run.recorder.over()
    _guarded(run, lambda: _settle(bench))
    if session.check_alive(run):
        _guarded(run, lambda: _clean_up(session, run, bench))
    _judge(run, bench)
    run.judge_stumbles()
    _trace(run, bench)
    bench.close()


def _settle(bench):
    with within(AFTER_CASE_S, "the end of its connections"):
        bench.settle()


def _clean_up(session, run, bench):
    """Removes what the case made. A target that is gone by now is looked at once more: what killed it
    took its time."""
    try:
        with within(AFTER_CASE_S, "the removal of its files"):
            bench.clean_up()
    except Refused:
        if session.check_alive(run):
            raise


def _guarded(run, function):
    """Calls `function` and notes how it ended."""
    try:
        function()
    except CaseEnd as end:
        run.note(end.verdict, end.reason, f"{_case_line(end)}{end.detail}", end.evidence)
    except pytest.skip.Exception as skipped:
        run.note(Verdict.NOT_TESTABLE, str(skipped))
    except (pytest.exit.Exception, KeyboardInterrupt):
        raise
    except AssertionError as error:
        reason = "a case asserts through expect only"
        run.note(Verdict.HARNESS_ERROR, reason, _stack(error))
    except Exception as error:
        run.stumbles.append(Stumble(type(error).__name__, _case_line(error), _stack(error)))
    except pytest.fail.Exception as error:
        run.note(Verdict.HARNESS_ERROR, "pytest.fail in a case", _stack(error))


def _case_line(error):
    """Where in the case the judgement was made: the first frame below this file; "" in a replay."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__
    ]
    place = next((each for each in frames if not _HARNESS.search(each.filename)), None)
    return f"{place.filename}:{place.lineno}: {place.line}\n" if place else ""


def _stack(error):
    return "".join(traceback.format_exception(error))


def _judge(run, bench):
    """Findings of the judge and of the memory oracle become notes."""
    run.judged = connection_rows(bench.connections, bench.stream_ports)
    findings = bench.findings()
    connections = {id(conn): conn for _, conn in findings}
    places = {key: event_places(conn) for key, conn in connections.items()}
    for finding, conn in findings:
        text = f"event {finding.event}: expected {finding.expected}; observed {finding.observed}"
        if finding.by_target:
            place = places[id(conn)].get(finding.event, ("", 0))
            run.found(finding.id, text, conn, *place)
            _note_finding(run, finding, text, conn)
        elif not run.case.hostile and not _provoked(finding, conn, findings):
            reason = f"our own {bench.own} broke {finding.id} in a case without hostility"
            run.note(Verdict.HARNESS_ERROR, reason, f"{text}\n{conn.journal_text()}")


def _trace(run, bench):
    """The report has the trace of a failure. So has the reader, where a value was judged without its message."""
    if not run.verdict.spoils_run and run.verdict is not Verdict.WARN:
        return
    run.trace = trace_rows(bench.connections)
    if run.trace and not any(TRACE.search(note.detail) for note in run.notes):
        run.explain(bench.connections[run.trace[-1]["connection"] - 1].journal_text())


def _provoked(own, conn, findings):
    """Whether the target has broken a rule on the connection before our own side did. Who goes by
    what it said, such as a grant or a second reply, may break rules too."""
    return any(
        other is conn and found.by_target and found.event <= own.event for found, other in findings
    )


def _note_finding(run, finding, text, conn):
    if finding.id in run.case.tolerates:
        return
    run.violations.append((finding, conn))
    verdict = verdict_of_level(ledger.level(ledger.find(finding.id)))
    reason, detail = f"{finding.id}: {finding.rule}", ""
    # The first of a reason has the detail: a target may break a rule in each of many messages.
    if (verdict, reason) not in [(note.verdict, note.reason) for note in run.notes]:
        detail = f"{ledger.citation(finding.id)}\n{text}\n{conn.journal_text()}"
    run.note(verdict, reason, detail)


def _cause_row(run, bench):
    """The cause of a case that went wrong, as report.json has it; None if it went well."""
    cause = first_cause(run, bench.connections)
    return None if cause is None else dataclasses.asdict(cause)


def record_of(run):
    """The Record of a finished run; the plugin fills in the seconds."""
    capture = f"{CAPTURES}/{run.capture.name}" if run.capture else None
    replay = f"{FAILURES}/{run.replay.name}" if run.replay else None
    again = f"\nagain: steertag replay {run.replay}" if run.replay else ""
    return Record(
        id=run.case_id,
        verdict=run.verdict.value,
        reason=run.reason,
        findings=[{"id": found.id, "text": found.text} for found in run.findings],
        judged=run.judged,
        trace=run.trace,
        environment=run.environment,
        requirements=run.requirements,
        seconds=0.0,
        capture=capture,
        replay=replay,
        detail=run.text() + again,
    )


def record_of_setup(case, case_id, report):
    """The Record of a case whose setup or teardown failed or skipped."""
    if report.skipped:
        verdict, reason = Verdict.NOT_TESTABLE, report.longrepr[2].removeprefix("Skipped: ")
        reason = harmless(reason)
    else:
        verdict, reason = Verdict.HARNESS_ERROR, f"{report.when} failed"
    return Record(
        id=case_id,
        verdict=verdict.value,
        reason=reason,
        findings=[],
        requirements=list(case.requirements),
        seconds=report.duration,
        detail=harmless_lines(str(report.longrepr)),
    )

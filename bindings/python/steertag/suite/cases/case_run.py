"""The record of one running case: its notes, and the verdict that follows from them."""

import collections
import contextlib
import contextvars
import dataclasses
import re

from ...files.escape import harmless, harmless_lines
from ...verdict import Verdict
from ..recording.recorder import Recorder
from .case_end import CaseEnd, HarnessError
from .evidence import Evidence
from .transport import binds, RDMA


# The first line of a trace in the details of a note.
TRACE = re.compile(r"^trace of \d+ events", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Note:
    """One observation with a verdict. `reason` is stable; `detail` is for the reader; `evidence` is what was
    judged."""

    verdict: Verdict
    reason: str
    detail: str = ""
    evidence: Evidence | None = None


@dataclasses.dataclass(frozen=True)
class FoundFault:
    """A finding as reports show it: the requirement's id and one sentence with values. For the recording also
    the connection by its tap's name, and the event there: the `number`th (from 1) of this `kind` by the target.
    """

    id: str
    text: str
    connection: str = ""
    kind: str = ""
    number: int = 0


@dataclasses.dataclass(frozen=True)
class Stumble:
    """An exception of the case or the harness: its name, where in the case it came, its stack."""

    name: str
    place: str
    stack: str


class Run:
    """Collects notes and findings of the running case over a transport."""

    def __init__(self, case, case_id, transport=RDMA, run_seed=0):
        self.case = case
        self.transport = transport
        self.case_id = case_id
        self._run_seed = run_seed
        self.notes = []
        self.findings = []
        self.judged = []  # findings of the judge on both sides, see judge_findings.py.
        self.trace = []  # Lines of a failure, see trace_rows.py.
        self.environment = ""  # The text of the one that a combination met.
        self.capture = None  # path of the capture file, once it exists
        self.replay = None  # path of a failure's recording
        self.recorder = Recorder()
        self.fallback = None  # (verdict, reason) unless the last step fails
        self.epilogue = ""  # for the reader of a failure
        # Of the target: (CaseFinding, Connection), without those that the case tolerates.
        self.violations = []
        self.stumbles = []  # Stumble, of exceptions that no case raises on purpose

    def note(self, verdict, reason, detail="", evidence=None):
        """Adds a note. The texts may have words of the target; here they become harmless to whoever shows them."""
        self.notes.append(Note(verdict, harmless(reason), harmless_lines(detail), evidence))

    def xid_seed(self, number):
        """The seed of the XIDs on the connection with this number. A server remembers XIDs after a
        run ends, so each run has its own (see --run-seed)."""
        return f"{self._run_seed}/{self.case_id}/{number}"

    def judge_stumbles(self):
        """Notes exceptions as harness-errors, unless the target broke a rule in the same case. Then
        the case may have stumbled over what the target sent, and that is the verdict."""
        stumbles, self.stumbles = self.stumbles, []
        for each in stumbles:
            if any(note.verdict is Verdict.FAIL for note in self.notes):
                self.epilogue += f"the case could not go on: {each.name}\n{each.place}"
            else:
                self.note(Verdict.HARNESS_ERROR, each.name, each.stack)

    def end(self, end: CaseEnd):
        self.note(end.verdict, end.reason, end.detail, end.evidence)

    def explain(self, text):
        """Adds to the detail of the first of the worst notes."""
        worst = self.verdict
        place = next(at for at, note in enumerate(self.notes) if note.verdict is worst)
        note = self.notes[place]
        detail = "\n".join(part for part in (note.detail.rstrip(), harmless_lines(text)) if part)
        self.notes[place] = dataclasses.replace(note, detail=detail)

    def found(self, requirement_id, text, conn, kind, number):
        """A finding about the `number`th event of this `kind` by the target on `conn`."""
        name = getattr(self.recorder.tap_of(conn), "name", "")
        self.findings.append(FoundFault(requirement_id, harmless(text), name, kind, number))

    @property
    def requirements(self):
        """The declared requirements that the case can assert over this transport. All, if the case
        does not run over it."""
        declared = self.case.requirements
        if self.transport not in self.case.over:
            return list(declared)
        return [each for each in declared if binds(each, self.transport)]

    def check_declared(self, requirement_id):
        """Refuses an assertion that the decorator does not declare, or that does not bind the
        target. Coverage relies on this."""
        if requirement_id not in self.case.requirements:
            raise HarnessError(
                f"the case asserts {requirement_id}, which its decorator does not declare"
            )
        if not binds(requirement_id, self.transport):
            raise HarnessError(
                f"the case asserts {requirement_id}, which binds no peer over {self.transport}"
            )

    @property
    def verdict(self):
        return max(
            (note.verdict for note in self.notes), key=lambda v: v.rank, default=Verdict.PASS
        )

    @property
    def spoilt(self):
        """Whether something went wrong so far, also if it is not judged yet."""
        return self.verdict is not Verdict.PASS or bool(self.stumbles)

    @property
    def reason(self):
        """The stable reasons behind the verdict, sorted, each once; empty for a plain pass."""
        worst = self.verdict
        return "; ".join(sorted({note.reason for note in self.notes if note.verdict is worst}))

    def comments(self):
        """The comments on the case in its capture."""
        comments = [f"case {self.case_id}", f"verdict {self.verdict}"]
        if self.reason:
            comments.append(self.reason)
        return comments + [f"{found.id}: {found.text}" for found in self.findings]

    def text(self):
        """The notes from worst to mildest; of those with one reason, the first has its detail. Notes with one trace
        stand above it, and it is there once."""
        ranked = sorted(self.notes, key=lambda note: -note.verdict.rank)
        counts = collections.Counter((note.verdict, note.reason) for note in ranked)
        traces = [_split_trace(note.detail)[1] for note in ranked]
        groups = {}  # lines by the trace below them
        for note in ranked:
            count = counts.pop((note.verdict, note.reason), 0)
            if not count:
                continue
            words, trace = _split_trace(note.detail)
            lines = groups.setdefault(_whole_trace(trace, traces) or note, [])
            lines.append(f"{note.verdict}: {note.reason}{f' ({count} times)' * (count > 1)}")
            if words:
                lines.append(words)
        parts = []
        for below, lines in groups.items():
            parts += lines
            if isinstance(below, str):
                parts.append(below)
        if self.epilogue:
            parts.append(harmless_lines(self.epilogue.rstrip()))
        return "\n".join(parts)


def _split_trace(detail):
    """What the detail of a note says, and the traces at its end, or ""."""
    found = TRACE.search(detail)
    place = len(detail) if found is None else found.start()
    return detail[:place].rstrip(), detail[place:].rstrip()


def _whole_trace(trace, traces):
    """The longest of the traces that begins as this one: a trace taken later has more events."""
    events = trace.partition("\n")[2]
    longer = [each for each in traces if events and each.partition("\n")[2].startswith(events)]
    return max(longer, key=len, default=trace)


_current = contextvars.ContextVar("steertag_run", default=None)


def current_run():
    """The record of the running case; a HarnessError outside of a case."""
    run = _current.get()
    if run is None:
        raise HarnessError("expect was used outside of a case")
    return run


@contextlib.contextmanager
def running(run):
    """Makes `run` the record that `expect` writes to."""
    token = _current.set(run)
    try:
        yield run
    finally:
        _current.reset(token)

"""Searches for a trial in which the target breaks a rule: hypothesis generates, the smallest
failure stays."""

import contextlib
import dataclasses
import zlib

import hypothesis
import hypothesis.errors
from hypothesis import HealthCheck, Verbosity
from hypothesis.stateful import run_state_machine_as_test

from ..suite.cases.case_end import CaseEnd, HarnessError, Hung, NotTestable
from ..suite.exchange.deadline import Limit
from ..suite.run.execution import conclude
from .trial_script import case_source, run_lines, Script
from .units import units, without

# Trials of one property. Each takes some ten milliseconds, mostly for connections.
EXAMPLES = 60
# Conversations, and steps of one. They cost the most: each has several connections. Hypothesis
# abandons one in three without a step.
CONVERSATIONS = 50
STEPS = 20
# A third party that is farther away than this gets fewer trials by this factor, and no pass. Load does not count.
FAR_MS = 50
SLOWER = 6
# Limits of shrinking: failed trials, and time. A trial that waits in vain takes the time of an
# answer. The time limit divided by it limits these trials, so their number depends on the round trip
# alone. At least one trial drops half of the units.
MOST_FAILED = 400
SHRINK_MS = 10_000
# All trials of a property, below the deadline of its case.
SEARCH_MS = 240_000
# Rounds of dropping parts after hypothesis has finished.
MOST_ROUNDS = 100


class TrialFailed(Exception):
    """A trial ended with the verdict and reason of the first failure."""


class Enough(KeyboardInterrupt):
    """No further trial: a limit is reached, or the target is lost. At nothing else hypothesis ends at once: an Exception
    is a failed trial to it, and in place of a rejected one it makes others."""


@dataclasses.dataclass(frozen=True)
class _Failure:
    lines: list
    verdict: object
    reason: str

    @property
    def size(self):
        return len(self.lines), sum(map(len, self.lines))


class Explorer:
    """A property's access to the target (the pytest fixture `explorer`)."""

    def __init__(self, session, seed):
        self._session = session
        self._seed = seed
        self._first = None  # (verdict, reason) of the first failure; others must match
        self._smallest = None
        self._failed = 0
        self._waits = False  # the first failure was an answer that timed out
        self._waited = 0  # further answers that timed out
        self._limit = None
        self._end = Limit(SEARCH_MS)
        self.cut_short = ""  # why the last passing trial ended early
        self._left_out = ""  # why not all trials run

    # -- two ways to generate trials
    # -------------------------------------------------------------

    def examples(self, strategy, write, examples=EXAMPLES):
        """Trials in which `write(script, value)` uses a value of the strategy."""

        @self._settings(max_examples=self._fewer(examples))
        @hypothesis.given(strategy)
        def example(value):
            trial = self.begin()
            trial.write(write, value)
            trial.finish()

        self._explore(hypothesis.seed(self._number())(example))

    def conversations(self, machine, examples=CONVERSATIONS, steps=STEPS):
        """Trials of a conversation.Conversation; `machine` is its class."""

        class Seeded(machine):
            explorer = self

        hypothesis.seed(self._number())(Seeded)
        settings = self._settings(max_examples=self._fewer(examples), stateful_step_count=steps)
        self._explore(lambda: run_state_machine_as_test(Seeded, settings=settings))

    def _fewer(self, examples):
        """Fewer examples for a distant target, whose trials take seconds; the first ones are the
        same."""
        distance_ms = self._session.deadlines.distance_ms
        if distance_ms <= FAR_MS or self._session.bundled:
            return examples
        fewer = max(1, examples // SLOWER)
        far = f"a round trip takes {distance_ms:.0f} ms, above {FAR_MS} ms"
        self._left_out = f"{fewer} of {examples} trials found nothing, and no more were made: {far}"
        return fewer

    def _number(self):
        """A seed by case and --seed."""
        return zlib.crc32(self._session.run.case_id.encode()) + self._seed

    @staticmethod
    def _settings(**more):
        return hypothesis.settings(
            database=None,
            deadline=None,
            derandomize=False,
            print_blob=False,
            report_multiple_bugs=False,
            phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            **more,
        )

    # -- one trial -------------------------------------------------------------------------------

    def begin(self):
        """A new Trial, which the caller finishes. Raises Enough if the limits of shrinking are reached, or the target is
        lost."""
        late = self._end.passed or self._limit is not None and self._limit.passed
        enough = self._failed >= MOST_FAILED or self._waits and self._has_waited(0)
        if late or enough or self._session.lost:
            raise Enough
        return Trial(self, self._session)

    def _has_waited(self, least):
        """Whether the limit of answers that timed out is reached, which is at least `least`."""
        return self._waited >= max(least, SHRINK_MS // self._session.deadlines.answer_ms)

    def failed(self, lines, run, missed):
        """Records a failed trial with `missed` answers that timed out. Raises TrialFailed for
        hypothesis, unless the trial fails in another way than the first."""
        verdict, reason = run.verdict, run.reason
        if self._first is None:
            self._first = verdict, reason
            self._limit = Limit(SHRINK_MS)
            self._waits = missed > 0
        else:
            self._waited += missed
        if (verdict, reason) != self._first:
            return
        self._failed += 1
        found = _Failure(list(lines), verdict, reason)
        if self._smallest is None or found.size <= self._smallest.size:
            self._smallest = found
        raise TrialFailed(reason)

    # -- the end ---------------------------------------------------------------------------------

    def _explore(self, search):
        try:
            search()
        except (TrialFailed, Enough):
            pass
        except hypothesis.errors.Flaky:
            # The target is not deterministic.
            if self._smallest is None:
                raise HarnessError("a property gives other trials each time") from None
        except Hung:
            # The deadline of the case has passed outside of a trial.
            if self._smallest is None:
                raise
        except hypothesis.errors.Unsatisfiable:
            raise NotTestable(f"no conversation came to its end: {self.cut_short}") from None
        if self._smallest is not None and self._end.passed:
            self._note()
        elif self._smallest is not None:
            self._leave_out()
            self._report()
        elif self._left_out:
            raise NotTestable(self._left_out)
        elif self._end.passed:
            raise NotTestable("the target is too slow for the trials of a property")

    def _leave_out(self):
        """Drops what hypothesis kept: it stops early if the target ends connections at varying
        times."""
        limit, self._waited = Limit(SHRINK_MS), 0
        at_once = max(1, len(units(self._smallest.lines)) // 2)
        for _ in range(MOST_ROUNDS):
            before = self._smallest
            for lines in _parts_left_out(before.lines, at_once):
                if limit.passed or self._has_waited(1) or self._session.lost:
                    return
                if lines != before.lines and self._fails(lines):
                    self._smallest = dataclasses.replace(before, lines=lines)
                    break
            if self._smallest is before:
                if at_once == 1:
                    return
                at_once //= 2

    def _fails(self, lines):
        """Whether the lines alone fail in the same way. Incomplete lines do not."""
        trial = Trial(self, self._session)
        try:
            trial.write(lambda script, _: [script.do(line) for line in lines], None)
        except (NameError, AttributeError, LookupError):
            return False
        trial.judge()
        self._waited += trial.missed
        return (trial.run.verdict, trial.run.reason) == self._first

    def _note(self):
        """The smallest failure is that of the case. To repeat it would pass the deadline of the case: a target that
        hangs takes a minute each time."""
        run = self._tell()
        run.note(self._smallest.verdict, self._smallest.reason, "there was no time to do it again")

    def _report(self):
        """Repeats the smallest failure on the case's own bench, as the failure of the case."""
        found, run = self._smallest, self._tell()
        self._session.reseed()
        run.fallback = found.verdict, found.reason
        run_lines(found.lines, self._session.bench())

    def _tell(self):
        """Gives the smallest failure to the reader of the case; the run of the case."""
        found, run = self._smallest, self._session.run
        text = case_source(run.case, run.case_id, found.lines, found.reason)
        run.epilogue = f"as a case of its own, which fails in the same way:\n\n{text}"
        return run


def _parts_left_out(lines, at_once):
    """The lines without `at_once` adjacent units, for each such group."""
    found = units(lines)
    for start in range(0, len(found), at_once):
        left = lines
        for unit in found[start : start + at_once]:
            left = without(left, unit)
        yield left


class Trial:
    """One run inside the case's run. It has its own bench and is judged like a case."""

    def __init__(self, explorer, session):
        self._explorer = explorer
        self._session = session
        self._stack = contextlib.ExitStack()
        self.run = self._stack.enter_context(session.inner_run())
        self._bench = session.bench()
        self.script = Script(self._bench)

    @property
    def missed(self):
        """The number of answers that timed out."""
        return self._bench.missed

    def write(self, write, value):
        """Calls `write(script, value)`; an unexpected error ends the search."""
        try:
            write(self.script, value)
        except CaseEnd as end:
            self.end(end)
        except BaseException:
            self._stack.close()
            raise

    def end(self, end):
        """Ends the trial by a CaseEnd."""
        self.run.end(end)
        self._explorer.cut_short = end.reason

    def finish(self):
        """Judges the trial like a case; raises TrialFailed if that spoils a run."""
        self.judge()
        if self.run.verdict.spoils_run:
            self._explorer.failed(self.script.lines, self.run, self.missed)

    def judge(self):
        """Ends the run, which fixes its verdict."""
        with self._stack:
            conclude(self._session, self.run, self._bench)

"""Looks for a conversation in which the target breaks a rule: runs trials that hypothesis thinks up, and
leaves the smallest one that failed."""

import contextlib
import dataclasses
import zlib

import hypothesis
import hypothesis.errors
from hypothesis import HealthCheck, Verbosity
from hypothesis.stateful import run_state_machine_as_test

from ..suite.conduct import conclude
from ..suite.deadline import Limit
from ..suite.verdict import CaseEnd, HarnessError
from .script import case_source, run_lines, Script
from .units import units, without

# Trials of one property, and steps of one conversation: some ten milliseconds each.
EXAMPLES = 60
STEPS = 20
# A third party with a longer round trip gets so many times fewer trials. The bundled server does not: what
# is tried must not depend on the load.
SLOW_ROUND_TRIP_MS = 50
SLOWER = 6
# Failed trials, and time, in which a failure is made smaller.
MOST_FAILED = 400
SHRINK_MS = 10_000
# Parts that are left out one after the other when hypothesis has done what it can.
MOST_ROUNDS = 100


class TrialFailed(Exception):
    """A trial ended with the verdict and reason of the first that spoilt the run."""


@dataclasses.dataclass(frozen=True)
class _Failure:
    lines: list
    verdict: object
    reason: str

    @property
    def size(self):
        return len(self.lines), sum(map(len, self.lines))


class Explorer:
    """What a property has of the target (the pytest fixture `explorer`)."""

    def __init__(self, session, seed):
        self._session = session
        self._seed = seed
        self._first = None  # (verdict, reason) of the first failure, by which all others go
        self._smallest = None
        self._failed = 0
        self._limit = None

    # -- two ways to think up trials -------------------------------------------------------------

    def examples(self, strategy, write, examples=EXAMPLES):
        """Trials in which `write(script, value)` does something with a value of the strategy."""

        @self._settings(max_examples=self._fewer(examples))
        @hypothesis.given(strategy)
        def example(value):
            trial = self.begin()
            if trial is not None:
                trial.write(write, value)
                trial.finish()

        self._explore(hypothesis.seed(self._number())(example))

    def conversations(self, machine, examples=EXAMPLES, steps=STEPS):
        """Trials that a conversation.Conversation leads; `machine` is its class."""

        class Seeded(machine):
            explorer = self

        hypothesis.seed(self._number())(Seeded)
        settings = self._settings(max_examples=self._fewer(examples), stateful_step_count=steps)
        self._explore(lambda: run_state_machine_as_test(Seeded, settings=settings))

    def _fewer(self, examples):
        """Against a target far away a trial takes seconds; the first ones are the same."""
        slow = self._session.deadlines.round_trip_ms > SLOW_ROUND_TRIP_MS
        return max(1, examples // SLOWER) if slow and not self._session.bundled else examples

    def _number(self):
        """A seed that belongs to the case, and is another one with --seed."""
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
        """The Trial that begins now, which who asked for it finishes; None if enough was done to make a
        failure smaller, or the target is lost."""
        late = self._limit is not None and self._limit.passed
        if late or self._failed >= MOST_FAILED or self._session.lost:
            return None
        return Trial(self, self._session)

    def failed(self, lines, run):
        """Notes a failed trial and tells hypothesis of it; of one that fails in another way nothing."""
        verdict, reason = run.verdict, run.reason
        if self._first is None:
            self._first = verdict, reason
            self._limit = Limit(SHRINK_MS)
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
        except TrialFailed:
            pass
        except hypothesis.errors.Flaky:
            # The search was cut short, or the target does not always do the same.
            if self._smallest is None:
                raise HarnessError("a property gives other trials each time") from None
        if self._smallest is not None:
            self._leave_out()
            self._report()

    def _leave_out(self):
        """What hypothesis left in: it gives up early on a target whose ends come at different moments."""
        limit = Limit(SHRINK_MS)
        for _ in range(MOST_ROUNDS):
            before = self._smallest
            for unit in units(before.lines):
                lines = without(self._smallest.lines, unit)
                if limit.passed or self._session.lost:
                    return
                if lines != self._smallest.lines and self._fails(lines):
                    self._smallest = dataclasses.replace(self._smallest, lines=lines)
                    break
            if self._smallest is before:
                return

    def _fails(self, lines):
        """Whether the lines alone fail in the same way. Lines that lack something do not."""
        trial = Trial(self, self._session)
        try:
            trial.write(lambda script, _: [script.do(line) for line in lines], None)
        except (NameError, AttributeError, LookupError):
            return False
        trial.judge()
        return (trial.run.verdict, trial.run.reason) == self._first

    def _report(self):
        """The smallest failure becomes that of the case: it runs once more on the case's own bench."""
        found, run = self._smallest, self._session.run
        text = case_source(run.case, run.case_id, found.lines, found.reason)
        run.epilogue = f"as a case of its own, which fails in the same way:\n\n{text}"
        self._session.reseed()
        run.fallback = found.verdict, found.reason
        run_lines(found.lines, self._session.bench())


class Trial:
    """One run inside of the case's run, with a bench of its own, judged like a case when it ends."""

    def __init__(self, explorer, session):
        self._explorer = explorer
        self._session = session
        self._stack = contextlib.ExitStack()
        self.run = self._stack.enter_context(session.inner_run())
        self.script = Script(session.bench())

    def write(self, write, value):
        """Lets `write(script, value)` do its part; an unforeseen error ends the search."""
        try:
            write(self.script, value)
        except CaseEnd as end:
            self.run.end(end)
        except BaseException:
            self._stack.close()
            raise

    def finish(self):
        """Judges the trial like a case; raises TrialFailed if that spoils a run."""
        self.judge()
        if self.run.verdict.spoils_run:
            self._explorer.failed(self.script.lines, self.run)

    def judge(self):
        """Ends the run; its verdict stands then."""
        with self._stack:
            conclude(self._session, self.run, self._session.bench())

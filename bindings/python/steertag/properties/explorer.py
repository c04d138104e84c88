"""Looks for a conversation in which the target breaks a rule: runs trials that hypothesis thinks up, and
leaves the smallest one that failed."""

import contextlib
import dataclasses
import zlib

import hypothesis
import hypothesis.errors
from hypothesis import HealthCheck, Verbosity
from hypothesis.stateful import run_state_machine_as_test

from ..suite.cases.case_end import CaseEnd, HarnessError, NotTestable
from ..suite.exchange.deadline import Limit
from ..suite.run.execution import conclude
from .trial_script import case_source, run_lines, Script
from .units import units, without

# Trials of one property: some ten milliseconds each, most of it for connections.
EXAMPLES = 60
# Conversations and steps of one. They cost the most, some connections each, and hypothesis gives up one in
# three for which it has left itself no step.
CONVERSATIONS = 50
STEPS = 20
# A third party with a longer round trip gets so many times fewer trials. The bundled server does not: what
# is tried must not depend on the load.
SLOW_ROUND_TRIP_MS = 50
SLOWER = 6
# Failed trials, and time, in which a failure is made smaller. One that waits for what does not come takes the
# time of an answer: of those there may be as many as that time has room for, so that their number follows
# from the round trip alone; and one that leaves out half of what hypothesis has found.
MOST_FAILED = 400
SHRINK_MS = 10_000
# Times that parts are left out when hypothesis has done what it can.
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
        self._waits = False  # nothing came in the first failure
        self._waited = 0  # times that nothing came afterwards, each the time of an answer
        self._limit = None
        self.cut_short = ""  # why the last trial that did not fail ended before its time

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

    def conversations(self, machine, examples=CONVERSATIONS, steps=STEPS):
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
        enough = self._failed >= MOST_FAILED or self._waits and self._has_waited(0)
        if late or enough or self._session.lost:
            return None
        return Trial(self, self._session)

    def _has_waited(self, least):
        """Whether so many answers did not come as are waited for, or at least as `least`."""
        return self._waited >= max(least, SHRINK_MS // self._session.deadlines.answer_ms)

    def failed(self, lines, run, missed):
        """Notes a failed trial, in which so often nothing came, and tells hypothesis of it; of one that fails
        in another way nothing."""
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
        except TrialFailed:
            pass
        except hypothesis.errors.Flaky:
            # The search was cut short, or the target does not always do the same.
            if self._smallest is None:
                raise HarnessError("a property gives other trials each time") from None
        except hypothesis.errors.Unsatisfiable:
            raise NotTestable(f"no conversation came to its end: {self.cut_short}") from None
        if self._smallest is not None:
            self._leave_out()
            self._report()

    def _leave_out(self):
        """What hypothesis left in: it gives up early on a target whose ends come at different moments."""
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
        """Whether the lines alone fail in the same way. Lines that lack something do not."""
        trial = Trial(self, self._session)
        try:
            trial.write(lambda script, _: [script.do(line) for line in lines], None)
        except (NameError, AttributeError, LookupError):
            return False
        trial.judge()
        self._waited += trial.missed
        return (trial.run.verdict, trial.run.reason) == self._first

    def _report(self):
        """The smallest failure becomes that of the case: it runs once more on the case's own bench."""
        found, run = self._smallest, self._session.run
        text = case_source(run.case, run.case_id, found.lines, found.reason)
        run.epilogue = f"as a case of its own, which fails in the same way:\n\n{text}"
        self._session.reseed()
        run.fallback = found.verdict, found.reason
        run_lines(found.lines, self._session.bench())


def _parts_left_out(lines, at_once):
    """The lines without so many of their units, for each group of neighbours."""
    found = units(lines)
    for start in range(0, len(found), at_once):
        left = lines
        for unit in found[start : start + at_once]:
            left = without(left, unit)
        yield left


class Trial:
    """One run inside of the case's run, with a bench of its own, judged like a case when it ends."""

    def __init__(self, explorer, session):
        self._explorer = explorer
        self._session = session
        self._stack = contextlib.ExitStack()
        self.run = self._stack.enter_context(session.inner_run())
        self._bench = session.bench()
        self.script = Script(self._bench)

    @property
    def missed(self):
        """How often nothing came in the whole time of an answer."""
        return self._bench.missed

    def write(self, write, value):
        """Lets `write(script, value)` do its part; an unforeseen error ends the search."""
        try:
            write(self.script, value)
        except CaseEnd as end:
            self.end(end)
        except BaseException:
            self._stack.close()
            raise

    def end(self, end):
        """What the trial did ended it."""
        self.run.end(end)
        self._explorer.cut_short = end.reason

    def finish(self):
        """Judges the trial like a case; raises TrialFailed if that spoils a run."""
        self.judge()
        if self.run.verdict.spoils_run:
            self._explorer.failed(self.script.lines, self.run, self.missed)

    def judge(self):
        """Ends the run; its verdict stands then."""
        with self._stack:
            conclude(self._session, self.run, self._bench)

"""`steertag shrink FILE`: the smallest recording that fails as this one does."""

import dataclasses
import itertools
import pathlib
import sys
import time

from ..failure import Failure
from ..files.escape import printable
from . import replay_command

# A recording without its octets says all that there is to see; this many lines do.
MOST_LINES = 400
# The longest wait of a candidate: so many times what the whole recording takes, and at least this. Most
# candidates lack the cause of what they wait for. The last run has its usual time.
WAIT_RUNS = 10
WAIT_FLOOR_MS = 500
# At the end, of recordings that the search found to fail, from the smallest one.
MOST_LAST_RUNS = 50


def add_command(commands):
    parser = commands.add_parser(
        "shrink", help="Leaves out of a recording what its failure does not need"
    )
    replay_command.add_options(parser)
    parser.add_argument("--out", metavar="FILE", help="where it goes (default FILE.min.steertag)")
    parser.add_argument(
        "--runs", type=int, metavar="N", help="the most runs against the target (default 1000)"
    )
    parser.set_defaults(run=run)


def run(arguments):
    """Leaves out of a recording what its failure does not need."""
    from ..suite.recording.recording_file import SUFFIX, write
    from .runner import reference_runner, runner_for
    from .shrinker import MOST_RUNS, Shrinker
    from .steps import listing

    limit = MOST_RUNS if arguments.runs is None else arguments.runs
    if limit < 1:
        raise Failure("--runs is a number from 1 on")
    recording = replay_command.load(arguments.file)
    if replay_command.is_of_client(recording, arguments):
        raise Failure(
            "client cases cannot be shrunk: the server reacts to the client; `steertag replay` runs "
            "the case again, and the capture in the file shows all of it"
        )
    source = pathlib.Path(arguments.file)
    out = pathlib.Path(arguments.out or source.with_name(f"{source.stem}.min{SUFFIX}"))

    def new_target():
        return runner_for(recording.target, arguments.target, arguments.profile)

    def new_reference():
        return reference_runner(recording.target)

    with new_target() as target:
        with new_reference() as reference:
            judge = _Judge(recording, (target, new_target), (reference, new_reference))
            judge.begin()
            with _bar(limit) as bar:
                shrinker = Shrinker(recording, judge.fails, limit, bar.update)
                complete = shrinker.shrink(with_octets=judge.has_reference)
        if target.is_started_here:
            with new_target() as fresh:
                shrunk = _last_that_fails(recording, shrinker, fresh)
        else:
            shrunk = _last_that_fails(recording, shrinker, target)
    try:
        write(out, shrunk)
    except OSError as error:
        raise Failure(f"{out}: {error.strerror}") from None
    _tell(recording, shrunk, shrinker.runs, complete, listing)
    print(f"written to {out}")
    return 0


def _last_that_fails(recording, shrinker, target):
    """The smallest recording of the search that fails on the target as it is now, with what that shows.
    A target that remembers what earlier candidates did may have failed for that."""
    for candidate in itertools.islice(reversed(shrinker.found), MOST_LAST_RUNS):
        last = target.run(candidate)
        if replay_command.is_same(recording, last):
            done = target.recording()
            return dataclasses.replace(
                candidate, detail=done.detail, findings=done.findings, capture=done.capture
            )
    raise Failure(
        f"the shrunk recording gave {last.verdict} in its last run, and so did those before it: the "
        "target remembers earlier runs, or the failure is unstable"
    )


class _Judge:
    """Whether a candidate fails as the recording does, and the target is at fault. If the reference server
    fails too, the candidate is illegal. `target` and `reference` are pairs of a Runner and what makes a new one.
    """

    def __init__(self, recording, target, reference):
        self._recording = recording
        self._target, self._new_target = target
        self._reference, self._new_reference = reference
        self._longest_wait_ms = 0
        self.has_reference = True

    def begin(self):
        """The recording itself has to fail again."""
        took_s = []
        for _ in range(2):  # the first run is also the first contact
            start = time.monotonic()
            record = self._target.run(self._recording)
            took_s.append(time.monotonic() - start)
            if not replay_command.is_same(self._recording, record):
                words = replay_command.sentence(record.verdict, record.reason)
                raise Failure(f"nothing to shrink: played again it gives {words}")
        self._longest_wait_ms = int(max(WAIT_FLOOR_MS, WAIT_RUNS * min(took_s) * 1000))
        control = self._reference.run(self._recording)
        if not self._passes(control):
            self.has_reference = False
            words = replay_command.sentence(control.verdict, control.reason)
            print(f"the reference server does not pass it ({printable(words)}):")
            print("only whole steps are left out, and no octets are changed")

    def fails(self, candidate):
        if self._target.lost:
            raise Failure(self._target.lost)
        if not self._is_same(candidate):
            return False
        if self.has_reference and not self._passes(self._run(self._reference, candidate)):
            return False
        # Once more: a candidate may use the same names in each run, and the target may remember them.
        return self._is_same(candidate) and self._fails_afresh(candidate)

    def _is_same(self, candidate):
        return replay_command.is_same(self._recording, self._run(self._target, candidate))

    def _fails_afresh(self, candidate):
        """The same without what earlier candidates have left behind, such as a session of the same
        client; of a target that is started here."""
        if not self._target.is_started_here:
            return True
        with self._new_target() as target:
            if not replay_command.is_same(self._recording, self._run(target, candidate)):
                return False
        if not self.has_reference:
            return True
        with self._new_reference() as reference:
            return self._passes(self._run(reference, candidate))

    def _run(self, runner, candidate):
        return runner.run(candidate, self._longest_wait_ms)

    def _passes(self, record):
        """Whether the reference server does what it is shown to do right here."""
        good = record.verdict in ("pass", "latitude", "warn")
        return good and not replay_command.is_same(self._recording, record)


def _bar(limit):
    from tqdm import tqdm  # most commands draw no bar

    return tqdm(total=limit, desc="runs, at most", leave=False, disable=not sys.stderr.isatty())


def _tell(before, after, runs, complete, listing):
    print(f"{before.case['id']}: {printable(replay_command.sentence(after.verdict, after.reason))}")
    print(f"{len(before.steps)} steps, now {len(after.steps)}, after {runs} runs")
    if not complete:
        print("the search was ended early; --runs allows more")
    for number, line in enumerate(listing(after.steps)):
        if number == MOST_LINES:
            print("  ...")
            break
        print(f"  {printable(line)}")

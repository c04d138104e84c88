"""Delta debugging of a recording.

It leaves out steps, then parts of messages, as long as the failure stays the same."""

import dataclasses

from .. import wire
from .parts import smaller_draft, smaller_octets
from .steps import tidy

# The default number of runs of the whole search. Each takes some ten milliseconds against a server
# nearby, and a whole deadline if the failure is a silence.
MOST_RUNS = 1000
# Rounds over everything; each begins only if the one before made something smaller.
MOST_ROUNDS = 8


class OutOfRuns(Exception):
    """The limit of runs is reached."""


class Shrinker:
    """Makes a recording smaller. `fails(recording)` tells whether it still fails in the same way;
    `ran()` is called before each run."""

    def __init__(self, recording, fails, limit=MOST_RUNS, ran=lambda: None):
        self.found = [recording]  # each smaller than the one before; at most one for each run
        self.runs = 0
        self._fails = fails
        self._limit = limit
        self._ran = ran

    @property
    def best(self):
        return self.found[-1]

    def shrink(self, with_octets=True):
        """Leaves the smallest recording found in `best`; False if the limit of runs, or Ctrl-C, ended
        the search."""
        try:
            for _ in range(MOST_ROUNDS):
                before = self.best
                self._drop_steps()
                if with_octets:
                    self._shrink_messages()
                if self.best is before:
                    break
        except (OutOfRuns, KeyboardInterrupt):
            return False
        return True

    def _try(self, steps):
        """Takes the steps over if they still fail."""
        if self.runs >= self._limit:
            raise OutOfRuns
        self.runs += 1
        self._ran()
        candidate = dataclasses.replace(self.best, steps=steps)
        if not self._fails(candidate):
            return False
        self.found.append(candidate)
        return True

    def _drop_steps(self):
        """Drops chunks of steps from the end to the start. Each round has half the size. Single steps are tried
        until none can go, because a step may be needed only by a later one."""
        size = max(1, len(self.best.steps) // 2)
        while True:
            before = self.best
            end = len(self.best.steps)
            while end > 0:
                start = max(0, end - size)
                kept = tidy(self.best.steps[:start] + self.best.steps[end:])
                if self._try(kept):
                    end = min(start, len(kept))
                else:
                    end = start
            if size == 1 and self.best is before:
                return
            size = max(1, size // 2)

    def _shrink_messages(self):
        for step in self.best.steps:
            if step.kind == "send":
                self._shrink_step(step.number)

    def _shrink_step(self, number):
        step = self._step(number)
        if step is None:
            return
        if _is_draft(step.fields["octets"]):
            self._reduce(number, smaller_draft)
        self._reduce(number, smaller_octets)

    def _step(self, number):
        return next((step for step in self.best.steps if step.number == number), None)

    def _reduce(self, number, smaller):
        """Tries each smaller form of a message; starts over with what was taken."""
        position = 0
        while True:
            step = self._step(number)
            taken = False
            for position, octets in smaller(step.fields["octets"], position):
                changed = dataclasses.replace(step, fields={**step.fields, "octets": octets})
                steps = [changed if each is step else each for each in self.best.steps]
                if self._try(steps):
                    taken = True
                    break
            if not taken:
                return


def _is_draft(octets):
    """Whether the octets are those of a message with a transport header."""
    return wire.encode(wire.draft_of(octets)) == octets

"""Estimates how long a run still takes, from the cases that have ended."""

import time

FIRST_S = 3
# An estimate of less than this is not worth a line.
LEAST_S = 3


class TimeLeft:
    """The first estimate comes after FIRST_S, each next one after twice the time: a long run has few lines."""

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._started_s = clock()
        self._next_s = FIRST_S
        self._ended = 0

    def line_after_case(self, total):
        """Counts an ended case; the estimate as a line, or "" if none is due. `total`: cases of the run."""
        if not self._ended:
            # The start of the target and the collection tell nothing about the pace.
            self._started_s = self._clock()
        self._ended += 1
        spent_s = self._clock() - self._started_s
        if spent_s < self._next_s:
            return ""
        self._next_s = 2 * spent_s
        left_s = spent_s / self._ended * (total - self._ended)
        if left_s < LEAST_S:
            return ""
        return (
            f"about {_span(left_s)} left, at the pace of the first {self._ended} of {total} cases"
        )


def _span(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

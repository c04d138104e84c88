"""The deadlines of a case as a whole, above those of its waits: a target may answer each call just in time."""

import contextlib
import signal
import threading
import time

from ..cases.case_end import EXCHANGES, Hung

# From the first line of a case to its last. Above what the slowest case takes with a distant target: a
# grace period, and the trials of a property.
CASE_S = 300
# What follows a case, twice: its connections end; its files are removed, perhaps in a grace period.
AFTER_CASE_S = 150
# What goes on all the same ends again: a property begins its next trial.
AGAIN_S = 5


@contextlib.contextmanager
def within(seconds, what):
    """Ends `what` as hung after this time, wherever it is. There is no deadline beside the main thread, which alone
    gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_):
        raise Hung(f"{EXCHANGES}: {what} has no end within {seconds} s")

    began = time.monotonic()
    outer = signal.signal(signal.SIGALRM, end)
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_S)
    try:
        yield
    finally:
        # The deadline around it, if there is one, may have passed meanwhile.
        left = max(left - (time.monotonic() - began), AGAIN_S) if left else 0
        signal.setitimer(signal.ITIMER_REAL, left, again)
        signal.signal(signal.SIGALRM, outer)

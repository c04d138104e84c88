"""Signals that stop a command: it cleans up, and its exit status is what shells expect."""

import contextlib
import signal

SHELL_BASE = 128  # a shell's exit status after a signal is this plus the signal's number
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal arrived; `number` is its number."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def raising():
    """Inside, the signals raise Stopped, as SIGINT raises KeyboardInterrupt. A signal that the
    parent ignores (nohup) stays ignored."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        for number, handler in before.items():
            if handler == signal.SIG_DFL:
                signal.signal(number, _raise)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def status(interrupt):
    """The exit status of a command that this KeyboardInterrupt ended."""
    return SHELL_BASE + getattr(interrupt, "number", signal.SIGINT)


def _raise(number, _):
    # A second signal must not disturb the cleanup.
    for other in _SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise Stopped(number)

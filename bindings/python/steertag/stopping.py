"""Signals that ask a command to stop: it puts things in order, and ends as shells expect of it."""

import contextlib
import signal

SHELL_BASE = 128  # a shell's exit status of a process that a signal ended is this and its number
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """One of them came; `number` is its number."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def raising():
    """Inside, they raise Stopped, as SIGINT raises KeyboardInterrupt. What whoever started the command
    has chosen to ignore (nohup) stays ignored."""
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
    # What is put in order now is not to be disturbed.
    for other in _SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise Stopped(number)

"""A progress bar on standard error, if that is a terminal."""

import contextlib
import sys

from .files.escape import printable

# Shorter work gets no bar.
QUIET_S = 0.5


def counted(results, total, name):
    """The list of results, which come one by one; the bar has the time left, after those that came."""
    if not sys.stderr.isatty():
        return list(results)
    from tqdm import tqdm  # most runs draw no bar

    return list(tqdm(results, total=total, desc=name, delay=QUIET_S, leave=False))


@contextlib.contextmanager
def note(text):
    """Shows a line on standard error while the work inside lasts, if that is a terminal. It is for work whose end is not
    known, but a time that it usually takes: `text` says both."""
    if not sys.stderr.isatty():
        yield
        return
    print(text, end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print(f"\r{' ' * len(text)}\r", end="", file=sys.stderr, flush=True)


def run(step, done_bytes, total_bytes, name, leave=True):
    """Calls `step()` until it returns True for complete work. `done_bytes()` counts the octets
    done; `total_bytes` is None if unknown. `leave`: the bar stays at the end."""
    if not sys.stderr.isatty():
        while not step():
            pass
        return
    from tqdm import tqdm  # most runs draw no bar

    bar = tqdm(
        total=total_bytes,
        desc=printable(name),
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        delay=QUIET_S,
        leave=leave,
    )
    with bar:
        complete = False
        while not complete:
            complete = step()
            bar.update(done_bytes() - bar.n)

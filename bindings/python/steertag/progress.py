"""A progress bar on standard error, if that is a terminal."""

import sys

from .files.escape import printable

# Shorter work gets no bar.
QUIET_S = 0.5


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

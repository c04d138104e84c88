"""Says on standard error what a reader of a pipe waits for, unless it comes soon."""

import contextlib
import os
import stat
import sys
import threading

from ..files.escape import printable

# Programs that record and pipe on have written the start of a capture by then.
PATIENCE_S = 1.0


@contextlib.contextmanager
def told(path):
    """For the time until the first octets of `path`, which may be "-"."""
    writer = _missing(path)
    if writer is None:
        yield
        return
    timer = threading.Timer(PATIENCE_S, _tell, [writer])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _missing(path):
    """What a pipe or socket needs, or None if `path` is neither."""
    is_standard_input = path == "-"
    try:
        mode = os.stat(0 if is_standard_input else path).st_mode
    except OSError:  # the engine has a sentence on it
        return None
    if not stat.S_ISFIFO(mode) and not stat.S_ISSOCK(mode):
        return None
    if is_standard_input:
        return "a capture on standard input"
    return f"a program that writes a capture to {printable(os.fspath(path))}"


def _tell(writer):
    print(f"steertag: waiting for {writer}", file=sys.stderr, flush=True)

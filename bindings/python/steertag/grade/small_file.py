"""Which files are looked at a second time, for the decoded lines of their findings."""

import os
import stat

# Octets. The second look at a larger file would take longer than the first.
LARGEST_FILE = 4 << 20


def is_small(path):
    """Whether it is a file that can be read again, and not too large."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_FILE

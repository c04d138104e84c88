"""The load beside a suite: processes that use every processor, the memory and the disk."""

import contextlib
import os
import signal
import subprocess

STRESS = (
    *("stress", "--quiet", "--cpu", str(os.cpu_count()), "--io", "1"),
    *("--vm", "1", "--vm-bytes", "64M", "--hdd", "1", "--hdd-bytes", "16M"),
)


class LoadEnded(Exception):
    """The load ended before the suite; the text is one sentence."""


class Load:
    """Runs the command in a folder for its files, while the load is entered."""

    def __init__(self, folder, command=STRESS):
        self._folder, self._command = folder, command
        self._process = None

    def __enter__(self):
        # A session of its own: stress ended alone leaves its workers behind.
        self._process = subprocess.Popen(self._command, cwd=self._folder, start_new_session=True)
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        self.wait()

    def wait(self):
        """Until the load has ended."""
        self._process.wait()

    def check(self):
        """Raises LoadEnded if it does not run."""
        status = self._process.poll()
        if status is not None:
            raise LoadEnded(f"the load ended with status {status}")

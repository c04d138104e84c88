"""The client under test as a process of its own: start, end, and death by our hand."""

import os
import signal
import subprocess
import tempfile

from .server import QUOTED_OUTPUT

# From SIGTERM to SIGKILL: a mount may want to be taken back.
TERM_MS = 2000
# From SIGKILL to the end: a process inside a system call of a hanging mount may not end at all.
KILL_MS = 5000


class CannotRun(Exception):
    """The command could not be started, or not be ended; the text is one sentence."""


class ClientProcess:
    """One run. `command` is a list of words, or a text for the shell."""

    def __init__(self, command):
        self._output = tempfile.TemporaryFile()
        # setpriv ends the client even if this process is killed without warning.
        words = command if isinstance(command, list) else ["/bin/sh", "-c", command]
        try:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *words],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                start_new_session=True,
            )
        except OSError as error:
            self._output.close()
            raise CannotRun(f"cannot start {words[0]}: {error.strerror}") from None

    @property
    def pid(self):
        return self._process.pid

    @property
    def ended(self):
        return self._process.poll() is not None

    @property
    def status(self):
        """The exit status; negative for a signal, also if the shell reports it as 128 + signal."""
        status = self._process.returncode
        if status is not None and status > 128 and status - 128 in _DEADLY:
            return 128 - status
        return status

    def death(self):
        """How it ended: "signal SIGSEGV" or "exit status 3"."""
        status = self.status
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"

    def output(self):
        """The end of what it wrote to stdout and stderr."""
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - QUOTED_OUTPUT))
        return self._output.read().decode("utf-8", "replace")

    def kill(self):
        """Ends the process and what it has started; raises CannotRun if it does not end."""
        for number, limit_ms in ((signal.SIGTERM, TERM_MS), (signal.SIGKILL, KILL_MS)):
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                pass
            try:
                self._process.wait(limit_ms / 1000)
                return
            except subprocess.TimeoutExpired:
                continue
        raise CannotRun("the client did not end, not even by SIGKILL")

    def close(self):
        self._output.close()


# Signals by which a program that misbehaves dies.
_DEADLY = {
    int(each)
    for each in (
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGSEGV,
        signal.SIGSYS,
        signal.SIGTRAP,
    )
}

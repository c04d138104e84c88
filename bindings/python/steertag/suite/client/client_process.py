"""The client under test as a process of its own: start, end, and kill."""

import contextlib
import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time

from ...files.escape import harmless_lines
from ..run.server_process import QUOTED_OUTPUT

# From SIGTERM to SIGKILL: a mount may want to be taken back.
TERM_MS = 2000
# From SIGKILL to the end: a process inside a system call of a hanging mount may not end at all.
KILL_MS = 5000
# The shell that leads the client's process group. The client's own children stay in the group. It
# kills the group when this process dies without warning (SIGUSR1, by setpriv). It outlives a
# SIGTERM to the group as long as the client does, and ends as the client has ended. The first wait
# needs no test: a shell that has reaped a client still knows its status, but has no process of that
# number.
LEADER = """trap 'kill -KILL 0' USR1
trap : TERM
"$@" &
wait $!
status=$?
while kill -0 $! 2>/dev/null; do wait $!; status=$?; done
exit $status"""


class CannotRun(Exception):
    """The command could not be started, or not be ended; the text is one sentence."""


class ClientProcess:
    """One run. `command` is a list of words, or a text for the shell."""

    def __init__(self, command):
        self._output = tempfile.TemporaryFile()
        self._gone = False  # with all of its group
        words = command if isinstance(command, list) else ["/bin/sh", "-c", command]
        leader = ["setpriv", "--pdeathsig", "USR1", "/bin/sh", "-c", LEADER, "client"]
        try:
            self._process = subprocess.Popen(
                [*leader, *words],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                start_new_session=True,
            )
        except OSError as error:
            self._output.close()
            raise CannotRun(f"cannot start {leader[0]}: {error.strerror}") from None

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
        """The end of what it wrote to stdout and stderr, as harmless text."""
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - QUOTED_OUTPUT))
        return harmless_lines(self._output.read().decode("utf-8", "replace"))

    def kill(self, meanwhile=None):
        """Ends the process and what it has started, all of its group; raises CannotRun if that does not
        end. `meanwhile` is called again and again until then: a mount is taken back with the server's
        help only."""
        for number, limit_ms in ((signal.SIGTERM, TERM_MS), (signal.SIGKILL, KILL_MS)):
            if not self._left():
                return
            try:
                os.killpg(self._process.pid, number)
            except (ProcessLookupError, PermissionError):
                pass  # what is left of it shows
            if self._ends(limit_ms, meanwhile):
                return
        raise CannotRun("the client did not end, not even by SIGKILL")

    def _ends(self, limit_ms, meanwhile):
        """Whether nothing is left within the limit."""
        limit = time.monotonic() + limit_ms / 1000
        while self._left():
            left_ms = (limit - time.monotonic()) * 1000
            if left_ms < 0:
                return False
            if meanwhile is None:
                wait_for_an_end(living_members(self._process.pid), left_ms)
            else:
                meanwhile()
        return True

    def _left(self):
        """Whether the process or any other of its group lives. Once nothing does, the group's number may
        become another's: it is not looked at again."""
        if not self._gone:
            self._gone = self.ended and not any(living_members(self._process.pid))
        return not self._gone

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


def living_members(group):
    """Pids of the processes in a group, without zombies."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # proc(5): pid (comm) state ppid pgrp; a name may hold blanks and parentheses.
            state, _, of = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        if int(of) == group and state not in "ZX":
            yield int(entry.name)


def wait_for_an_end(pids, limit_ms):
    """Returns when one of the processes has ended, or at the limit."""
    ends = select.poll()
    with contextlib.ExitStack() as opened:
        for pid in pids:
            try:
                descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                return
            opened.callback(os.close, descriptor)
            ends.register(descriptor, select.POLLIN)
        ends.poll(limit_ms)

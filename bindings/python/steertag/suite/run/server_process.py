"""The bundled server as a process of its own: start, death, restart, stop."""

import errno
import os
import pathlib
import signal
import subprocess
import tempfile

from ...files.escape import harmless_lines
from ..cases.transport import RDMA, TCP
from ..exchange.deadline import SERVER_START_MS, SERVER_STOP_MS, Limit
from ..exchange.roce_address import with_free_address

# Interval between two looks at the port file. It is no sleep: the wait ends with the process.
PORT_FILE_INTERVAL_S = 0.01
# Octets of the server's own output that a crash verdict quotes.
QUOTED_OUTPUT = 4000


def end_of(path, start=0):
    """The last octets of a log from `start` on as harmless text; empty if it cannot be read."""
    try:
        with open(path, "rb") as log:
            log.seek(max(start, os.path.getsize(path) - QUOTED_OUTPUT))
            return harmless_lines(log.read().decode("utf-8", "replace"))
    except OSError:
        return ""


class CannotStart(Exception):
    """The bundled server did not come up; the text is one sentence."""


class BundledServer:
    """One `steertag-serve` with ports of its own: over RDMA at the URL `listen`, over TCP on
    127.0.0.1. `name` distinguishes workers."""

    def __init__(self, program, listen, arguments, directory, name):
        self._program = pathlib.Path(program)
        self._listen = with_free_address(listen)
        self._arguments = list(arguments)
        self._log = pathlib.Path(directory) / f"server-{name}.log"
        self._log_start = 0  # offset of the current process's output
        self._process = None
        self.urls = {}  # {transport: URL}

    def start(self):
        """Starts the process and waits until it listens; raises CannotStart."""
        try:
            log = open(self._log, "ab")
        except OSError as error:
            raise CannotStart(
                f"cannot write {self._log}: {error.strerror}; --report DIR names another directory"
            ) from None
        # A private folder: another run may share the report directory.
        with log, tempfile.TemporaryDirectory(prefix="steertag-") as folder:
            self._log_start = log.tell()
            port_file = pathlib.Path(folder) / "port"
            self._launch(log, port_file)
            rdma, tcp = self._wait_for_ports(port_file)
            host = self._listen.rpartition(":")[0]
            self.urls = {RDMA: f"{host}:{rdma}/export", TCP: f"tcp://127.0.0.1:{tcp}/export"}

    def _launch(self, log, port_file):
        # setpriv ends the server even after SIGKILL of this process.
        command = ["setpriv", "--pdeathsig", "TERM", str(self._program)]
        for url in (self._listen, "tcp://127.0.0.1:0"):
            command += ["--listen", url]
        command += ["--port-file", str(port_file)]
        if not os.access(self._program, os.X_OK):
            why = errno.EACCES if self._program.exists() else errno.ENOENT
            raise CannotStart(f"cannot start {self._program}: {os.strerror(why)}")
        try:
            self._process = subprocess.Popen(
                [*command, *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        except OSError as error:
            raise CannotStart(f"cannot start {self._program}: {error.strerror}") from None

    def _wait_for_ports(self, port_file):
        """The ports in the order of `--listen`, without those of further `--listen` arguments."""
        limit = Limit(SERVER_START_MS)
        while not limit.passed:
            text = port_file.read_text() if port_file.exists() else ""
            if text.endswith("\n"):
                return [int(line) for line in text.split()[:2]]
            try:
                self._process.wait(PORT_FILE_INTERVAL_S)
            except subprocess.TimeoutExpired:
                continue
            raise CannotStart(
                f"{self._program.name} ended at once, {self.death()}: {self._last_line()}"
            )
        self.stop()
        raise CannotStart(f"{self._program.name} did not listen within {SERVER_START_MS} ms")

    @property
    def pid(self):
        """The process id of the running server."""
        return self._process.pid

    def wait_for_death(self, timeout_ms):
        """Waits for the end of the process. Returns whether it has ended."""
        try:
            self._process.wait(timeout_ms / 1000)
        except subprocess.TimeoutExpired:
            return False
        return True

    def death(self):
        """The end of the process: "signal SIGSEGV" or "exit status 3"; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"

    def output(self):
        """The last output of the process on stdout and stderr."""
        return end_of(self._log, self._log_start)

    def _last_line(self):
        lines = self.output().strip().splitlines()
        return lines[-1] if lines else "it wrote nothing"

    def restart(self):
        self.stop()
        self.start()

    def crash(self):
        """Ends the process as a crash does."""
        self._process.kill()
        self._process.wait()

    def stop(self):
        """Sends SIGTERM to the process, and SIGKILL if it does not end."""
        if self._process is None or self._process.poll() is not None:
            return None
        self._process.terminate()
        if not self.wait_for_death(SERVER_STOP_MS):
            self._process.kill()
            self._process.wait()
            return f"did not stop within {SERVER_STOP_MS} ms of SIGTERM"
        return None if self._process.returncode == 0 else f"ended with {self.death()}"

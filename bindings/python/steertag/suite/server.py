"""The bundled server as a process of its own: start, death, restart, stop."""

import os
import pathlib
import signal
import subprocess

from .deadline import SERVER_START_MS, SERVER_STOP_MS, Limit

# Interval at which the port file is looked for while waiting for the process; not a sleep: the
# wait ends at once when the process dies.
PORT_FILE_INTERVAL_S = 0.01
# Octets of the server's own output that a crash verdict quotes.
QUOTED_OUTPUT = 4000


def end_of(path):
    """The last octets of a log as text; empty if it cannot be read."""
    try:
        with open(path, "rb") as log:
            log.seek(max(0, os.path.getsize(path) - QUOTED_OUTPUT))
            return log.read().decode("utf-8", "replace")
    except OSError:
        return ""


class CannotStart(Exception):
    """The bundled server did not come up; the text is one sentence."""


class BundledServer:
    """One `steertag-serve` on 127.0.0.1 with a port of its own. `name` tells workers apart."""

    def __init__(self, program, arguments, directory, name):
        self._program = pathlib.Path(program)
        self._arguments = list(arguments)
        self._log = pathlib.Path(directory) / f"server-{name}.log"
        self._port_file = pathlib.Path(directory) / f".server-{name}.port"
        self._process = None
        self.url = None

    def start(self):
        """Starts the process and waits until it listens; raises CannotStart."""
        self._port_file.unlink(missing_ok=True)
        command = [
            str(self._program),
            "--listen",
            "iwarp://127.0.0.1:0",
            "--port-file",
            str(self._port_file),
        ]
        try:
            log = open(self._log, "ab")
        except OSError as error:
            raise CannotStart(f"cannot write {self._log}: {error.strerror}") from None
        try:
            with log:
                self._process = subprocess.Popen(
                    [*command, *self._arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except OSError as error:
            raise CannotStart(f"cannot start {self._program}: {error.strerror}") from None
        self.url = f"iwarp://127.0.0.1:{self._wait_for_port()}/"

    def _wait_for_port(self):
        limit = Limit(SERVER_START_MS)
        while not limit.passed:
            text = self._port_file.read_text() if self._port_file.exists() else ""
            if text.endswith("\n"):
                self._port_file.unlink()
                return int(text)
            try:
                self._process.wait(PORT_FILE_INTERVAL_S)
            except subprocess.TimeoutExpired:
                continue
            raise CannotStart(
                f"{self._program.name} ended at once, {self.death()}: {self._last_line()}"
            )
        self.stop()
        raise CannotStart(f"{self._program.name} did not listen within {SERVER_START_MS} ms")

    def wait_for_death(self, timeout_ms):
        """Whether the process has ended, after waiting so long for it."""
        try:
            self._process.wait(timeout_ms / 1000)
        except subprocess.TimeoutExpired:
            return False
        return True

    def death(self):
        """How the process ended: "signal SIGSEGV" or "exit status 3"; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"

    def output(self):
        """The end of what the process wrote to stdout and stderr."""
        return end_of(self._log)

    def _last_line(self):
        lines = self.output().strip().splitlines()
        return lines[-1] if lines else "it wrote nothing"

    def restart(self):
        self.stop()
        self.start()

    def stop(self):
        """Asks the process to end, and kills it if it does not."""
        if self._process is None or self._process.poll() is not None:
            return None
        self._process.terminate()
        if not self.wait_for_death(SERVER_STOP_MS):
            self._process.kill()
            self._process.wait()
            return f"did not stop within {SERVER_STOP_MS} ms of SIGTERM"
        return None if self._process.returncode == 0 else f"ended with {self.death()}"

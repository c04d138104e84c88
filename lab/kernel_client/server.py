"""Our own server on the host, for machines that are clients: started, killed and started again."""

from __future__ import annotations

import pathlib
import re
import shutil
import signal
import subprocess
import time

from lab.failure import LabFailure
from lab.kernel_client import listening
from lab.machines.machine import first_of_free_ports, free_ports
from lab.machines.own_network import OwnNetwork, inside
from lab.target import PROJECT

# The first build that exists is used, unless another program is named.
PROGRAMS = tuple(f"build/{preset}/tools/steertag-serve" for preset in ("release", "asan", "dev"))
START_LIMIT_S = 20  # a sanitized server on busy cores; otherwise it takes 20 ms
STOP_LIMIT_S = 20
KILL_LIMIT_S = 20  # a process that waits for a disk ends when the disk has answered
POLL_S = 0.01
# After a restart of the server, what is not reclaimed waits that long. A shorter lease could run out in an
# emulated machine on busy cores.
LEASE_S = 30
MEMORY, DIRECTORY = "memory", "directory"
STORAGES = (DIRECTORY, MEMORY)
SHOWN_LINES = 10  # of the log, when the server ends by itself

# Of --counts: a data server's number, and octets that RDMA has carried to it and from it.
COUNTS = re.compile(
    r"^data server (\d+): \d+ messages, (\d+) octets pulled, (\d+) octets pushed$", re.M
)


def find_program(named: str | None) -> pathlib.Path:
    """The server to run; fails before a machine is booted in vain."""
    candidates = [named] if named else PROGRAMS
    for candidate in candidates:
        if (PROJECT / candidate).is_file():
            return PROJECT / candidate
    raise LabFailure(f"{candidates[0]} is missing; build the target steertag-serve first")


class Server:
    """One server with its storage, which lives as long as this object: `close` removes it."""

    def __init__(
        self,
        program: pathlib.Path,
        storage: str,
        directory: pathlib.Path,
        network: OwnNetwork | None = None,
        data_servers: int = 0,
    ) -> None:
        self.storage = storage
        self.log = directory / "server.log"
        self._directory = directory
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self.ports = free_ports(["rdma", "tcp"])
        self._port_file = directory / "port"
        self._command = [
            *("setpriv", "--pdeathsig", "KILL", str(program)),
            *listening.options(network, self.ports),
            *("--port-file", str(self._port_file)),
        ]
        self._data_servers = data_servers
        if data_servers:
            first = first_of_free_ports(data_servers * len(self.ports))
            self._command += ["--pnfs", str(data_servers), "--pnfs-port", str(first), "--counts"]
            self._command += listening.data_server_options(network)
        if storage == DIRECTORY:
            (directory / "export").mkdir(mode=0o777)
            self._command += ["--export", str(directory / "export"), "--no-root-squash"]
            # So that a restart is one for the clients too: handles stay, state is reclaimed.
            self._command += ["--handle-key", str(directory / "key")]
            self._command += ["--recovery", str(directory / "clients"), "--lease", str(LEASE_S)]
        self._command = inside(network, self._command)
        self._process = None

    def start(self) -> str | None:
        """Starts the server and waits until it listens; a sentence if it does not."""
        self._port_file.unlink(missing_ok=True)
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A Ctrl-C at the terminal must not end the server before its user.
                start_new_session=True,
            )
        deadline = time.monotonic() + START_LIMIT_S
        while not self._port_file.exists():
            if self.died():
                return f"the server did not start; {self.last_words()}"
            if time.monotonic() > deadline:
                self.kill()
                return f"the server did not listen within {START_LIMIT_S} s; {self.last_words()}"
            time.sleep(POLL_S)
        return None

    def restart(self) -> None:
        """Kills the server without warning and starts it again, at the same ports. What goes wrong is
        told by `stop`."""
        if not self.died():
            self.kill()
            self.start()

    def died(self) -> bool:
        """Whether the server has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def stop(self) -> str | None:
        """Ends the server; a sentence if it had ended by itself or does not end well."""
        if self._process is None:
            return None
        if self.died():
            return f"the server ended with status {self._process.returncode}; {self.last_words()}"
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"the server did not end within {STOP_LIMIT_S} s of SIGTERM"
        finally:
            self._process = None
        return f"the server ended with {status}; {self.last_words()}" if status else None

    def idle_data_servers(self) -> str | None:
        """After `stop`: a sentence if a data server carried no data by RDMA since the last start. What goes
        inline or over TCP is not counted."""
        counts = COUNTS.findall(self.log.read_text(errors="replace"))[-self._data_servers :]
        idle = [number for number, pulled, pushed in counts if "0" in (pulled, pushed)]
        if len(counts) < self._data_servers or idle:
            return f"a data server carried no data by RDMA; {self.last_words()}"
        return None

    def kill(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        try:
            self._process.wait(KILL_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise LabFailure(f"the server did not end within {KILL_LIMIT_S} s of SIGKILL")

    def close(self) -> None:
        """Ends what still runs; the log stays, what was exported goes."""
        self.kill()
        shutil.rmtree(self._directory / "export", ignore_errors=True)

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-SHOWN_LINES:]
        quoted = "".join(f"\n    {line}" for line in lines)
        return f"its log ({self.log.relative_to(PROJECT)}) ends with:{quoted}"

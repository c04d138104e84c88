"""Our server with its files in memory, for one peer."""

import contextlib
import os
import subprocess

from ci.jobs.peers.peer_run import CannotRun
from steertag import build_paths

# Tests of ended leases sleep for two of them. A client of pynfs tries ten times, a second apart, before it renews its
# lease.
LEASE_S = 15
# The server listens within milliseconds, and ends within one poll interval.
END_LIMIT_S = 30


def program():
    """The server as a program. Raises CannotRun."""
    path = os.environ.get("STEERTAG_SERVE") or str(build_paths.tool("steertag-serve"))
    if not os.path.exists(path):
        raise CannotRun(f"our server is not built: {path} is missing")
    return path


@contextlib.contextmanager
def own_server(*arguments):
    """The TCP port of 127.0.0.1 where a fresh server with these arguments has its export at /export, over every version
    of NFS."""
    command = [program(), "--listen", "tcp://127.0.0.1:0", "--lease", str(LEASE_S), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline()
            if not line.startswith("listening at "):
                raise CannotRun("our server did not start")
            yield int(line.rsplit(":", 1)[1])
            if server.poll() is not None:
                raise CannotRun(f"our server ended with status {server.returncode}")
        finally:
            server.terminate()
            server.wait(END_LIMIT_S)

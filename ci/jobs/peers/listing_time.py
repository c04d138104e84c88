"""How long our client takes for a long listing, beside libnfs and the same server."""

import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from ci.jobs import PROJECT
from ci.jobs.peers.own_server import own_server
from ci.jobs.peers.peer_run import CannotRun

ENTRIES = 20_000
ROUNDS = 5
# Of libnfs's time, beside the noise of two medians.
MOST_RATIO = 1.1
# One listing takes a fraction of a second.
LIMIT_S = 60


def ratio():
    """The median time of `steertag ls` by that of `nfs-ls`, in turns. Raises CannotRun."""
    with tempfile.TemporaryDirectory(prefix="steertag-peers-") as folder:
        os.chmod(folder, 0o755)  # the clients are not its owner
        for number in range(ENTRIES):
            (pathlib.Path(folder) / f"entry-{number}").touch()
        with own_server("--export", folder) as port:
            commands = {
                "ours": [_steertag(), "ls", "--nfs", "3", f"tcp://127.0.0.1:{port}/export"],
                "libnfs": ["nfs-ls", _url(port)],
            }
            taken = {name: [] for name in commands}
            for _ in range(ROUNDS):
                for name, command in commands.items():
                    taken[name].append(_seconds(command))
    return statistics.median(taken["ours"]) / statistics.median(taken["libnfs"])


def _steertag():
    return str(PROJECT / "build" / "venv" / "bin" / "steertag")


def _url(port):
    return f"nfs://127.0.0.1/export?version=3&nfsport={port}&mountport={port}"


def _seconds(command):
    """How long a command takes that prints each entry."""
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    taken = time.monotonic() - start
    listed = done.stdout.count("entry-")
    if done.returncode != 0 or listed != ENTRIES:
        raise CannotRun(f"{command[0]} lists {listed} of {ENTRIES} entries: {done.stderr.strip()}")
    return taken

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
# What has the limit: all names, whichever way a client asks for them. nfs-ls always asks for attributes too.
NAMES = "steertag ls"
# What is measured beside it.
ATTRIBUTES = "steertag ls -l"
# One listing takes a fraction of a second.
LIMIT_S = 60


def ratios():
    """{NAMES or ATTRIBUTES: its median time by that of `nfs-ls`}, in turns. Raises CannotRun."""
    with tempfile.TemporaryDirectory(prefix="steertag-peers-") as folder:
        os.chmod(folder, 0o755)  # the clients are not its owner
        for number in range(ENTRIES):
            (pathlib.Path(folder) / f"entry-{number}").touch()
        with own_server("--export", folder) as port:
            ours = [_steertag(), "ls", "--nfs", "3", f"tcp://127.0.0.1:{port}/export"]
            commands = {NAMES: ours, ATTRIBUTES: [*ours, "-l"], "nfs-ls": ["nfs-ls", _url(port)]}
            taken = {name: [] for name in commands}
            for _ in range(ROUNDS):
                for name, command in commands.items():
                    taken[name].append(_seconds(command))
    medians = {name: statistics.median(each) for name, each in taken.items()}
    return {name: medians[name] / medians["nfs-ls"] for name in (NAMES, ATTRIBUTES)}


def _steertag():
    return str(PROJECT / "build" / "venv" / "bin" / "steertag")


def _environment():
    """The environment without what keeps Python from compiled modules, which an installed package has."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def _url(port):
    return f"nfs://127.0.0.1/export?version=3&nfsport={port}&mountport={port}"


def _seconds(command):
    """How long a command takes that prints each entry."""
    start = time.monotonic()
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=_environment()
    )
    taken = time.monotonic() - start
    listed = done.stdout.count("entry-")
    if done.returncode != 0 or listed != ENTRIES:
        raise CannotRun(f"{command[0]} lists {listed} of {ENTRIES} entries: {done.stderr.strip()}")
    return taken

#!/usr/bin/env python3
"""Runs the cases of pNFS for servers against a metadata server and data servers that are processes of their own.

    build/venv/bin/python suites/self/peers/pnfs_suite.py -k pnfs
    build/venv/bin/python suites/self/peers/pnfs_suite.py --provider tcp -k "pnfs and not lease"

What is not an option of this program goes to pytest.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from pnfs_processes import Cluster

# As many as the bundled server has.
SERVERS = 2
SUITE = pathlib.Path(__file__).parents[2] / "server"
# What the metadata server and this program are asked for by signals.
PROFILE = """
administrator:
  recall-layouts: [sh, -c, kill -USR1 {server}]
  replace-device: [sh, -c, kill -USR2 {server}]
  move-data-server: [sh, -c, kill -USR1 {self}]
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--provider", default="iwarp", choices=["iwarp", "roce", "tcp"])
    parser.add_argument("--lease", type=int, default=5, help="seconds")
    words, rest = parser.parse_known_args()
    with (
        tempfile.TemporaryDirectory() as name,
        Cluster(pathlib.Path(name), words.provider, SERVERS, lease_s=words.lease) as cluster,
    ):
        signal.signal(signal.SIGUSR1, lambda *_: cluster.move_data_server())
        profile = pathlib.Path(name) / "profile.yaml"
        server = cluster.parts[0].process.pid
        profile.write_text(PROFILE.format(server=server, self=os.getpid()))
        command = [sys.executable, "-m", "pytest", SUITE, "-q", "--target", cluster.url]
        command += ["--profile", profile, *rest]
        status = subprocess.run(list(map(str, command)), check=False).returncode
        if status == 0:
            cluster.end()
        else:
            print(cluster.logs(), file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())

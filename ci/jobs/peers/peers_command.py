"""The command line: names of peers in, one line for each difference from their baselines out."""

import argparse
import functools
import pathlib
import subprocess
import sys

from ci.jobs import PROJECT
from ci.jobs.peers import libnfs_tools, peer_baseline, pynfs_suite
from ci.jobs.peers.own_server import own_server
from ci.jobs.peers.peer_run import CannotRun

DESCRIPTION = """\
Runs programs of others against our server over TCP: the suites of pynfs for NFSv4.0 and NFSv4.1, and the utilities
of libnfs. Compares their failures with fixtures/baselines/peers/. Runs our suite against NFS-Ganesha in the lab, which
has a baseline of its own. Fetches and installs nothing else.
"""
# Peers that our suite runs against, and their targets of the lab.
TARGETS = {"ganesha": "ganesha-4.3-tcp"}
DIFFERENT = 1
CANNOT_RUN = 2


def peers(options):
    """{name: (a check of what it needs, a run by port)}"""
    found = {
        f"pynfs-4.{minor}": (
            functools.partial(pynfs_suite.check, options.pynfs),
            functools.partial(run_pynfs, options, minor),
        )
        for minor in pynfs_suite.FOLDERS
    }
    return found | {"libnfs": (libnfs_tools.check, libnfs_tools.run)}


def run_pynfs(options, minor, port):
    options.logs.mkdir(parents=True, exist_ok=True)
    return pynfs_suite.run(options.pynfs, minor, port, options.logs.resolve())


def missing(chosen):
    """One sentence for each thing that a peer needs and that is not there."""
    for name, (check, _) in chosen.items():
        try:
            check()
            peer_baseline.load(name)
        except CannotRun as error:
            yield str(error)


def compare(name, run):
    """Prints the differences of a peer; returns how many there are."""
    baseline = peer_baseline.load(name)
    with own_server() as port:
        found = run(port)
    differences = list(baseline.differences(found))
    for line in differences:
        print(f"{name}: {line}")
    defended = len(found.failed.keys() & baseline.rows.keys())
    print(f"{name}: {found.passed} passed, {len(found.failed)} failed, {defended} defended")
    return len(differences)


def gate(name):
    """Runs our suite against a target of the lab; returns whether its baseline differs."""
    return (
        subprocess.run([PROJECT / "ci" / "lab", "gate", TARGETS[name]], check=False).returncode != 0
    )


def parse(arguments):
    parser = argparse.ArgumentParser(prog="ci/peers", description=DESCRIPTION)
    parser.add_argument(
        "name", nargs="*", help="pynfs-4.0, pynfs-4.1, libnfs, ganesha; all of them unless given"
    )
    parser.add_argument(
        "--pynfs", type=pathlib.Path, metavar="DIR", help="a built checkout of pynfs"
    )
    parser.add_argument(
        "--logs",
        type=pathlib.Path,
        default=PROJECT / "build" / "peers",
        help="where pynfs's output goes",
    )
    options = parser.parse_args(arguments)
    unknown = set(options.name) - peers(options).keys() - TARGETS.keys()
    if unknown:
        parser.error(f"no peer has the name {', '.join(sorted(unknown))}")
    return options


def main(arguments):
    """Returns the exit status: 0 as the baselines say, 1 with differences, 2 if a peer cannot run."""
    options = parse(arguments)
    found = peers(options)
    names = options.name or [*found, *TARGETS]
    chosen = {name: peer for name, peer in found.items() if name in names}
    sentences = list(dict.fromkeys(missing(chosen)))
    for sentence in sentences:
        print(f"ci/peers: {sentence}", file=sys.stderr)
    if sentences:
        return CANNOT_RUN
    try:
        differences = [compare(name, run) for name, (_, run) in chosen.items()]
        differences += [gate(name) for name in TARGETS if name in names]
    except (CannotRun, OSError, subprocess.TimeoutExpired) as error:
        print(f"ci/peers: {error}", file=sys.stderr)
        return CANNOT_RUN
    return DIFFERENT if any(differences) else 0

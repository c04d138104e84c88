"""The server suite against our own server in a machine whose network has faults.

The verdicts have to be those of the same suite over loopback."""

from __future__ import annotations

import os
import pathlib
import select
import shutil

import yaml

from ci.jobs.steps import case_verdicts
from lab import host
from lab.failure import LabFailure
from lab.images import program
from lab.images.image import Image
from lab.machines import own_network, session
from lab.machines.machine import Machine
from lab.machines.own_network import MACHINE_ADDRESS, OwnNetwork
from lab.netem import counters, faulty_machine
from lab.netem.faults import Faults
from lab.netem.faulty_machine import FaultyMachine
from lab.suite_runs import suite
from lab.target import PROJECT, Target

# What the suite starts its own server with (suite/run/server_session.py).
SERVER_ARGUMENTS = ("--pnfs", "2", "--stripe-unit", "4096", "--optimistic", "--recoverable-faults")
PORT_FILE, LOG = "/tmp/port", "/tmp/server.log"
START_TRIES = 200  # of 100 ms
RUN_LIMIT_S = 7200
# pytest's exit codes after which every selected case has run: all passed, or some failed.
COMPLETE_RUN = (0, 1)


def run(target: Target, server: pathlib.Path, faults: Faults, arguments: list[str]) -> int:
    """Makes both runs, with the extra pytest arguments, and prints where verdicts differ and what the network did;
    returns an exit code."""
    with session.exclusive(target):
        host.need(host.MACHINE_PROGRAMS)
        Image(target).build()
        directory = target.directory / "suite"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        network = own_network.make_network(target)
        try:
            before = over_loopback(network, directory / "loopback", arguments)
            root = pack(target, server, directory / "program")
            console = directory / "console.log"
            with faulty_machine.booted(target, root, faults, console, network) as guest:
                start_server(guest)
                now = over_faults(target, guest, network, directory, arguments)
                ways = (counters.IN, counters.OUT)
                faulty = counters.judged(guest.agent.do, target.name, ways)
        finally:
            network.close()
    return 0 if judged(target.name, before, now) and faulty else 1


def judged(name: str, before: list[str], now: list[str]) -> bool:
    """Prints how many verdicts there are, and those that differ; whether there are some and all are the same."""
    differences = case_verdicts.differences(before, now)
    for line in differences:
        print(line)
    outcome = "other verdicts than over loopback" if differences else "the verdicts of loopback"
    print(f"{name}: {len(now)} cases: {outcome}", flush=True)
    return bool(now) and not differences


def over_loopback(network: OwnNetwork, report: pathlib.Path, arguments: list[str]) -> list[str]:
    """The verdicts of the suite against our own server, both on this host, without faults."""
    return _verdicts(network, ["--listen", "roce://127.0.0.1:0", "-n", "2", *arguments], report)


def over_faults(
    target: Target,
    guest: FaultyMachine,
    network: OwnNetwork,
    directory: pathlib.Path,
    arguments: list[str],
) -> list[str]:
    """The verdicts of the suite against the guest's server."""
    path = directory / "profile.yaml"
    path.write_text(yaml.safe_dump(profile(target), sort_keys=False))
    url = f"roce://{MACHINE_ADDRESS}:{target.ports['rdma']}{target.export}"
    options = ["--target", url, "--profile", str(path.relative_to(PROJECT))]
    return _verdicts(network, [*options, *arguments], target.report, guest.machine)


def profile(target: Target) -> dict:
    """What the suite knows by itself of its own server."""
    return {
        "name": target.name,
        "tcp": f"tcp://{MACHINE_ADDRESS}:{target.ports['tcp']}",
        "destructive": True,
        "software": "steertag-serve of this checkout",
    }


def pack(target: Target, server: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """The root file system with our server, which listens as the suite's own does."""
    listen = [
        word
        for kind, port in (("roce", target.ports["rdma"]), ("tcp", target.ports["tcp"]))
        for word in ("--listen", f"{kind}://{MACHINE_ADDRESS}:{port}")
    ]
    arguments = [*listen, "--port-file", PORT_FILE, *SERVER_ARGUMENTS]
    return program.append(server, arguments, {}, Image(target).root, scratch)


def start_server(guest: FaultyMachine) -> None:
    """Starts the server and waits until it listens."""
    guest.agent.do(f"/lab/program/run > {LOG} 2>&1 &")
    wait = f"tries={START_TRIES}; until [ -s {PORT_FILE} ] || [ $tries -eq 0 ]"
    guest.agent.do(f"{wait}; do tries=$((tries - 1)); sleep 0.1; done; cat {LOG}; [ $tries -gt 0 ]")


def _verdicts(
    network: OwnNetwork,
    options: list[str],
    report: pathlib.Path,
    machine: Machine | None = None,
) -> list[str]:
    """Runs the suite; LabFailure if it was not to its end."""
    shutil.rmtree(report, ignore_errors=True)
    place = ["--report", str(report.relative_to(PROJECT))]
    command = network.inside([str(suite.PYTEST), suite.CASES, "-q", *place, *options])

    def serve(end: int, limit_s: float) -> bool:
        return ended(end, limit_s, machine)

    status = suite.run_pytest(command, serve, RUN_LIMIT_S)
    if status not in COMPLETE_RUN:
        raise LabFailure(f"pytest ended with code {status}: the run is not complete")
    return list(case_verdicts.lines(report, case_verdicts.EXACT_PACKETS))


def ended(end: int, limit_s: float, machine: Machine | None) -> bool:
    """Waits until the descriptor `end` is readable; False after the limit. LabFailure if the machine ends before."""
    ends = [end] if machine is None else [end, machine.open_end()]
    try:
        ready, _, _ = select.select(ends, [], [], limit_s)
    finally:
        for other in ends[1:]:
            os.close(other)
    if ready and end not in ready:
        raise LabFailure("the machine died during the run")
    return end in ready

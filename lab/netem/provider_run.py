"""The tests over every provider inside a machine whose loopback device has faults, over RoCEv2."""

from __future__ import annotations

import pathlib
import shutil

from lab import host
from lab.images import program
from lab.images.image import Image
from lab.machines.agent import Agent
from lab.netem import counters, faulty_machine
from lab.netem.faults import Faults
from lab.suite_runs import provider_tests
from lab.suite_runs.provider_tests import REPORT, Totals
from lab.target import PROJECT, Target

# How the instances of the suites over roce are called. FaultyRoce has faults of its own. Where a test's clock stands still,
# nothing that is lost is repeated.
FILTER = "Roce/*:RoceIpv6/*-*.SilenceEndsAConnectionThatHasALimit/*"
# A test of 8192 packets takes 3000 round trips of 3 ms, on busy cores more. What hangs has this limit.
PATIENCE_S = 120
RUN_LIMIT_S = 1800  # of one program
OUTPUT = f"/{program.GUEST_DIRECTORY}/output"


def run(
    target: Target, test_programs: list[pathlib.Path], faults: Faults, arguments: list[str]
) -> int:
    """Runs each program in a machine of its own, prints the totals and what the network did; returns an exit code.
    Needs the target's lock."""
    Image(target).build()
    directory = target.directory / "provider-tests"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    complete = True
    for test_program in test_programs:
        complete = _run_one(target, test_program, faults, arguments, directory) and complete
    host.say(f"the programs' output is in {directory.relative_to(PROJECT)}")
    return 0 if complete else 1


def _run_one(
    target: Target,
    test_program: pathlib.Path,
    faults: Faults,
    arguments: list[str],
    directory: pathlib.Path,
) -> bool:
    image = Image(target)
    root = provider_tests.pack(
        test_program,
        [f"--gtest_filter={FILTER}", *arguments],
        {"STEERTAG_PROVIDERS": "roce", "STEERTAG_PATIENCE_S": str(PATIENCE_S)},
        image.root,
        directory / "scratch",
    )
    console = directory / f"{test_program.name}.console.log"
    with faulty_machine.booted(target, root, faults, console) as guest:
        host.say(f"running {test_program.name} over lo")
        status, totals = run_ordered(guest.agent, directory / test_program.name)
        over = f"roce and netem ({faults.text()})"
        passed = provider_tests.judged(target, test_program, over, status, totals)
        faulty = counters.judged(guest.agent.do, target.name, (counters.LOOPBACK,))
    return passed and faulty


def run_ordered(agent: Agent, kept: pathlib.Path) -> tuple[int, Totals]:
    """The program's exit status and what its report says; its output and its report are kept."""
    (status,) = agent.do(f"/lab/program/run > {OUTPUT} 2>&1; echo $?", RUN_LIMIT_S)
    report, output = kept.with_suffix(".xml"), kept.with_suffix(".log")
    output.write_text("\n".join(agent.do(f"cat {OUTPUT}")))
    # A program that was cut off has left none.
    report.write_text("\n".join(agent.do(f"cat {REPORT} || true")))
    return int(status), provider_tests.read_report(report, output)

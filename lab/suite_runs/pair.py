"""The suite in one machine, against a server in another: both have the target's RDMA device, which nothing
outside of their network reaches. Or the suite and our own server in one machine, over the same device.

The machine that tests sees the host's files, read-only: the very programs that are built here run there."""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import time
from typing import TextIO

from lab import host
from lab.failure import LabFailure, MachineDied
from lab.images.image import Image, extend
from lab.machines import link, session
from lab.machines.channel import Channel, Silent
from lab.machines.machine import Machine
from lab.suite_runs import provider_tests, suite
from lab.target import PROJECT, Target

TESTER = "tester"  # the role of the machine that tests
ADDRESS = provider_tests.GUEST_ADDRESS  # of a machine without another
# Of the emulated suite. It takes an hour where the device is slow and the server often boots.
RUN_LIMIT_S = 7200
# After the program has ended, its last lines are on the way.
DRAIN_LIMIT_S = 5
# From the end of its serial port to that of the machine.
DEATH_LIMIT_S = 5
POLL_S = 0.2
# Boots of both machines until the suite reaches the one that serves, and until the tester lives to its end.
MOST_RUNS = 3
# What pytest ends with if it does not reach the target.
UNREACHED = 4
# A tester that turns in a circle is as dead as one that stops: what it runs does not go on.
TESTER_PARAMETERS = "softlockup_panic=1"
MOST_UNTOLD_LINES = 100_000  # of output between two looks at the machine
REPORT = "/dev/report"
# A file of the report: the suite wants a fresh server, and waits until the file is gone.
RESTART_WANTED = "restart-wanted"
# Another: the machine that serves is not there.
DIED = "died"
CONSOLE = "console.log"
OUTPUT = "output.log"  # of the command
# Another: the memory of a program that died of a signal (role `tester`).
CORE = "core"
# Everything that a program writes goes to the guest's memory.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "HOME": "/dev/shm",
    "TMPDIR": "/dev/shm",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}
# Names another build directory than build/release, inside as outside.
BUILD_VARIABLE = "STEERTAG_BUILD"


class TesterDied(MachineDied):
    """The machine that tests: of a defect of its own kernel."""


def run(target: Target, arguments: list[str]) -> int:
    """Runs the server suite with the extra pytest arguments; returns pytest's exit code. Machines that
    do not find each other are booted again. So are those of a run in which the tester died, which says
    nothing about the server."""
    directory = target.directory / "pair"
    make_empty(directory)
    for number in range(1, MOST_RUNS):
        make_empty(target.report)
        try:
            status = run_once(target, arguments, directory)
            if not unmet(status, directory / OUTPUT):
                return status
            host.say("the machines did not find each other")
        except TesterDied as death:
            host.say(str(death))
        kept = directory / f"run-{number}"
        make_empty(kept)
        for path in (*directory.glob("*.log"), target.directory / CONSOLE):
            shutil.copy(path, kept)
        host.say(f"both machines are booted again, and the suite is run anew; {kept} shows why")
    make_empty(target.report)
    return run_once(target, arguments, directory)


def unmet(status: int, output: pathlib.Path) -> bool:
    """Whether the suite ended because it never reached its target."""
    lines = output.read_text(errors="replace").splitlines()
    return status == UNREACHED and any(line.startswith("ERROR: target ") for line in lines)


def run_once(target: Target, arguments: list[str], directory: pathlib.Path) -> int:
    """Boots both machines and runs the suite."""
    server_end, tester_end = link.pair(directory.relative_to(PROJECT))
    with session.booted(target, server_end) as booted:
        # The suite sees the console as a file of the report.
        (target.report / CONSOLE).hardlink_to(booted.console_log)
        wanted = shlex.quote(f"{REPORT}/{RESTART_WANTED}")
        wish = f": > {wanted} && while [ -e {wanted} ]; do sleep 0.1; done"
        booted.write_profile(
            console=f"{REPORT}/{CONSOLE}",
            restart=["sh", "-c", wish],
            died=["test", "-e", f"{REPORT}/{DIED}"],
        )
        profile = str(booted.profile.relative_to(PROJECT))
        command = suite_command("--target", booted.url(), "--profile", profile, *arguments)
        tester = Tester(target, command, directory, target.report, tester_end)
        return run_program(tester, booted)


def run_own(target: Target, arguments: list[str]) -> int:
    """Runs the server suite against our own server in one machine; returns pytest's exit code."""
    directory = target.directory / "own"
    report = directory / "report"
    make_empty(directory, report)
    with session.exclusive(target):
        host.need(host.MACHINE_PROGRAMS)
        Image(target).build()
        command = suite_command("--listen", f"{target.provider}://{ADDRESS}:0", *arguments)
        return run_program(Tester(target, command, directory, report, None), None)


def make_empty(*folders: pathlib.Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)


def suite_command(*arguments: str) -> list[str]:
    """The suite as the machine that tests runs it."""
    pytest = str(suite.PYTEST.relative_to(PROJECT))
    options = ("-o", "cache_dir=/dev/shm/pytest", "--report", REPORT)
    return [pytest, suite.CASES, *options, *arguments]


class Tester:
    """The machine that runs one command of the host, in this project's directory."""

    def __init__(
        self,
        target: Target,
        command: list[str],
        directory: pathlib.Path,
        report: pathlib.Path,
        end: link.Link | None,
    ) -> None:
        """`directory` takes what the machine leaves, its console and the command's output; the command
        has `report` as REPORT."""
        host.say(shlex.join(command))
        image = Image(target)
        self.target = target
        self.report = report
        self.output = directory / OUTPUT
        self._scratch = directory / "scratch"
        self.channel = Channel(directory / "channel")
        console = directory / "tester-console.log"
        console.write_bytes(b"")
        self.machine = Machine(
            *(target, image.kernel, pack(image.root, command, self._scratch), {}, console, TESTER),
            serials=(self.channel.serial(),),
            shares=(
                "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
                f"local,path={report},mount_tag=report,security_model=none",
            ),
            link=end,
            parameters=TESTER_PARAMETERS,
        )

    def boot(self) -> None:
        host.say(f"booting the tester of {self.target.name}")
        seconds = self.machine.boot(lambda: self.channel.open(self.machine))
        host.say(f"ready after {seconds:.1f} s")

    def close(self) -> None:
        self.machine.power_off()
        self.channel.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def run_program(tester: Tester, served: session.Session | None) -> int:
    """Runs the tester's command, and gives it a fresh server when it wants one; returns its exit status."""
    try:
        tester.boot()
        accompany(tester, served)
        status = tester.machine.wait_program(DRAIN_LIMIT_S)
    except LabFailure as failure:
        if tester.machine.dies(DEATH_LIMIT_S):
            raise TesterDied(f"the tester died; {tester.machine.last_words()}") from failure
        raise
    finally:
        tester.close()
    for machine in (tester.machine, served.machine if served else None):
        for complaint in machine.complaints() if machine else ():
            host.say(f"the guest's console has: {complaint}")
    if (core := tester.report / CORE).exists():
        host.say(f"the program died; its memory is in {core}")
    return status


def accompany(tester: Tester, served: session.Session | None) -> None:
    """Shows what the command prints until it has ended, and does what it wants."""
    deadline = time.monotonic() + RUN_LIMIT_S
    wanted, died = (tester.report / name for name in (RESTART_WANTED, DIED))
    with open(tester.output, "w") as output:
        while True:
            ended = tester.machine.program_ended()
            lines = copy_lines(tester.channel, output)
            if ended and lines == 0:
                return
            if served is not None and not served.machine.alive() and not died.exists():
                host.say(f"the machine died; {served.machine.last_words()}")
                died.touch()
            if served is not None and wanted.exists():
                served.restart()
                died.unlink(missing_ok=True)
                wanted.unlink()
            if time.monotonic() > deadline:
                raise LabFailure(f"the program did not end within {RUN_LIMIT_S} s")


def copy_lines(channel: Channel, output: TextIO) -> int:
    """Shows the lines that come until none does for a moment; returns how many."""
    for lines in range(MOST_UNTOLD_LINES):
        try:
            line = channel.read_line(time.monotonic() + POLL_S)
        except Silent:
            return lines
        print(line, flush=True)
        output.write(f"{line}\n")
    return MOST_UNTOLD_LINES


def pack(root: pathlib.Path, command: list[str], scratch: pathlib.Path) -> pathlib.Path:
    """Returns a root file system in which the role `tester` finds the command to run."""
    folder = scratch / "root" / "lab/program"
    folder.mkdir(parents=True)
    environment = dict(ENVIRONMENT)
    if build := os.environ.get(BUILD_VARIABLE):
        environment[BUILD_VARIABLE] = str(pathlib.Path(build).resolve())
    variables = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    inner = f"cd {shlex.quote(str(PROJECT))} && exec {shlex.join(command)}"
    run_file = folder / "run"
    run_file.write_text(
        "#!/bin/sh\n"
        # The output goes through a pipe, because programs write for eyes when it is a serial port.
        f"{{ chroot /host /usr/bin/env -i {' '.join(variables)} sh -c {shlex.quote(inner)}\n"
        "echo $? > /tmp/status; } 2>&1 | cat\n"
        # Why there was no way to the target.
        f"if [ $(cat /tmp/status) -eq {UNREACHED} ]; then ip neigh; "
        "cd /sys/class; grep . net/eth0/statistics/* infiniband/*/ports/1/state "
        "infiniband/*/ports/1/gids/[0-3] infiniband/*/ports/1/hw_counters/*; fi 2>&1\n"
        "exit $(cat /tmp/status)\n"
    )
    run_file.chmod(0o755)
    return extend(root, scratch / "root", scratch / "root.cpio")

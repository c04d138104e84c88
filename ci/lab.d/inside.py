"""The suite run inside a target's machine, against the server of the same machine over its RDMA device.

The guest sees the host's files, read-only: the very programs that are built here run there."""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import time
from typing import TextIO

import yaml

import host
import suite
from channel import Channel, Silent
from failure import LabFailure, MachineDied
from image import Image, extend
from machine import Machine
from target import PROJECT, Target

GUEST_ADDRESS = "10.0.2.15"
RUN_LIMIT_S = 3600
# A case that takes longer than this to say how it ended has lost its machine.
QUIET_LIMIT_S = 240
# Of one run of the suite; each but the first follows a death of the machine or a server that hangs.
MOST_BOOTS = 100
# pytest's exit code when it stopped before the last case: the server does not answer any more.
STOPPED = 2
# After the program has ended, its last lines are on the way.
DRAIN_LIMIT_S = 5
POLL_S = 1
MOST_UNTOLD_LINES = 100_000  # of output between two looks at the machine
REPORT = "/dev/report"
# Everything that a program writes goes to the guest's memory.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "HOME": "/dev/shm",
    "TMPDIR": "/dev/shm",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}
# The suite's file of what is done, for --resume; a run that came to its end leaves none.
PROGRESS = "progress.jsonl"
# Names another build directory than build/release, inside as outside.
BUILD_VARIABLE = "STEERTAG_BUILD"


def run(target: Target, arguments: list[str]) -> int:
    """Runs the server suite with the extra pytest arguments; returns pytest's exit code. A machine that
    dies takes the suite along, which then goes on in the next one behind the case that killed it.
    """
    image = Image(target)
    image.build()
    write_profile(target, image.version())
    command = [
        *(str(suite.PYTEST.relative_to(PROJECT)), suite.CASES, "-o", "cache_dir=/dev/shm/pytest"),
        *("--target", f"{target.provider}://{GUEST_ADDRESS}:{target.ports['rdma']}{target.export}"),
        *("--profile", str(_profile(target).relative_to(PROJECT)), "--report", REPORT, "--resume"),
        *arguments,
    ]
    clear(target)
    for _ in range(MOST_BOOTS):
        try:
            status = run_program(target, image, command)
        except MachineDied as death:
            host.say(str(death))
            continue
        if status != STOPPED or not (target.report / PROGRESS).exists():
            return status
    raise LabFailure(f"the suite did not come to its end in {MOST_BOOTS} machines")


def clear(target: Target) -> None:
    """Makes room for what a run writes."""
    for folder in (_directory(target), target.report):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)


def run_program(target: Target, image: Image, command: list[str]) -> int:
    """Runs a command of the host in this project's directory inside; returns its exit status. Raises
    MachineDied; `clear` comes before the first."""
    directory = _directory(target)
    root = pack(image.root, command, directory / "scratch")
    console = directory / "console.log"
    channel = Channel(directory / "channel")
    machine = Machine(
        *(target, image.kernel, root, {}, console),
        serials=(channel.serial(),),
        shares=(
            "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
            f"local,path={target.report},mount_tag=report,security_model=none",
        ),
    )
    host.say(f"booting {target.name} to run inside: {shlex.join(command)}")
    try:
        machine.start()
        channel.open(machine)
        host.say(f"ready after {machine.wait_ready():.1f} s")
        copy_output(machine, channel, directory / "output.log", target.report / PROGRESS)
        status = machine.wait_program(DRAIN_LIMIT_S)
        for complaint in machine.complaints():
            host.say(f"the guest's console has: {complaint}")
        return status
    finally:
        machine.power_off()
        channel.close()
        shutil.rmtree(directory / "scratch", ignore_errors=True)


def copy_output(machine: Machine, channel: Channel, log: pathlib.Path, sign: pathlib.Path) -> None:
    """Shows what the program prints until it has ended, or its machine. MachineDied if nothing comes any
    more; that the file `sign` changes is a sign of life too."""
    deadline = time.monotonic() + RUN_LIMIT_S
    quiet_since, seen = time.monotonic(), None
    with open(log, "a") as output:
        while True:
            ended = machine.program_ended()
            lines = _copy_lines(channel, output)
            if ended and lines == 0:
                return
            now, changed = time.monotonic(), sign.stat().st_mtime_ns if sign.exists() else None
            if lines or changed != seen:
                quiet_since, seen = now, changed
            if now > quiet_since + QUIET_LIMIT_S:
                raise MachineDied(f"the program gave no sign of life for {QUIET_LIMIT_S} s")
            if now > deadline:
                raise LabFailure(f"the program did not end within {RUN_LIMIT_S} s")


def _copy_lines(channel: Channel, output: TextIO) -> int:
    """Shows the lines that come until none does for a moment; returns how many."""
    for lines in range(MOST_UNTOLD_LINES):
        try:
            line = channel.read_line(time.monotonic() + POLL_S)
        except (Silent, MachineDied):
            return lines
        print(line, flush=True)
        output.write(f"{line}\n")
    return MOST_UNTOLD_LINES


def pack(root: pathlib.Path, command: list[str], scratch: pathlib.Path) -> pathlib.Path:
    """Returns a root file system in which the role `inside` finds the command to run."""
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
        "exit $(cat /tmp/status)\n"
    )
    run_file.chmod(0o755)
    return extend(root, scratch / "root", scratch / "root.cpio")


def write_profile(target: Target, version: str) -> None:
    """Declares to the suite what it cannot find out over the target URL. Nobody can bring back a machine
    that the suite itself runs in, so there is no `restart`."""
    profile = {
        "name": target.name,
        "mount": {"transport": "tcp", "host": GUEST_ADDRESS, "port": target.ports["mountd"]},
        "export": target.export,
        "destructive": True,
        "software": version,
    }
    _profile(target).write_text(yaml.safe_dump(profile, sort_keys=False))


def _directory(target: Target) -> pathlib.Path:
    return target.directory / "inside"


def _profile(target: Target) -> pathlib.Path:
    return target.directory / "profile.yaml"

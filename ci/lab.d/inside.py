"""The suite run inside a target's machine, against the server of the same machine over its RDMA device.

The guest sees the host's files, read-only: the very programs that are built here run there."""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import time

import yaml

import host
import suite
from channel import Channel, Silent
from failure import LabFailure
from image import Image, extend
from machine import Machine
from target import PROJECT, Target

GUEST_ADDRESS = "10.0.2.15"
RUN_LIMIT_S = 3600
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
# Names another build directory than build/release, inside as outside.
BUILD_VARIABLE = "STEERTAG_BUILD"


def run(target: Target, arguments: list[str]) -> int:
    """Runs the server suite with the extra pytest arguments; returns pytest's exit code."""
    image = Image(target)
    image.build()
    write_profile(target, image.version())
    command = [
        *(str(suite.PYTEST.relative_to(PROJECT)), suite.CASES, "-o", "cache_dir=/dev/shm/pytest"),
        *("--target", f"{target.provider}://{GUEST_ADDRESS}:{target.ports['rdma']}{target.export}"),
        *("--profile", str(_profile(target).relative_to(PROJECT)), "--report", REPORT),
        *arguments,
    ]
    return run_program(target, image, command)


def run_program(target: Target, image: Image, command: list[str]) -> int:
    """Runs a command of the host in this project's directory inside; returns its exit status."""
    directory = target.directory / "inside"
    for folder in (directory, target.report):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    root = pack(image.root, command, directory / "scratch")
    console = directory / "console.log"
    console.write_bytes(b"")
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
        copy_output(machine, channel, directory / "output.log")
        return machine.wait_program(DRAIN_LIMIT_S)
    finally:
        machine.power_off()
        channel.close()
        shutil.rmtree(directory / "scratch", ignore_errors=True)
        for complaint in machine.complaints():
            host.say(f"the guest's console has: {complaint}")


def copy_output(machine: Machine, channel: Channel, log: pathlib.Path) -> None:
    """Shows what the program prints until it has ended."""
    deadline = time.monotonic() + RUN_LIMIT_S
    with open(log, "w") as output:
        while True:
            ended = machine.program_ended()
            lines = 0
            try:
                while lines < MOST_UNTOLD_LINES:
                    line = channel.read_line(time.monotonic() + POLL_S)
                    print(line, flush=True)
                    output.write(f"{line}\n")
                    lines += 1
            except Silent:
                pass
            if ended and lines == 0:
                return
            if time.monotonic() > deadline:
                raise LabFailure(f"the program did not end within {RUN_LIMIT_S} s")


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


def _profile(target: Target) -> pathlib.Path:
    return target.directory / "profile.yaml"

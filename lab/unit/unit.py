"""The units of our package in a machine whose first process is systemd.

The first client starts the server, which runs as a user of its own and comes back after a kill."""

from __future__ import annotations

import contextlib
import pathlib
import re
import shutil
import time
from collections.abc import Iterator

from lab import host, smoke
from lab.failure import LabFailure
from lab.images.image import Image, extend
from lab.machines.agent import Agent
from lab.machines.channel import Channel
from lab.machines.machine import HOST, Machine, free_ports
from lab.power.nfs3 import FILE_SYNC, Nfs3
from lab.target import PROJECT, Target
from lab.unit.process_status import ProcessStatus

PROGRAMS = {"dpkg-deb": "dpkg"}
PACKAGES = PROJECT / "build" / "packages"
PACKAGE = "steertag_*.deb"
EXTRACT_LIMIT_S = 60
SOCKET, SERVICE = "steertag.socket", "steertag.service"
# Enabled by hand: no script of the package runs here.
ENABLED = pathlib.Path("etc/systemd/system/sockets.target.wants") / SOCKET
UNIT = pathlib.Path("/lib/systemd/system") / SOCKET
# What docs/guide/serve.md says of the service.
MOST_EXPOSURE = 0.3
EXPOSURE = re.compile(r"Overall exposure level for \S+: (\d+\.\d) ")
# RestartSec= is 100 ms; the machine is emulated.
RESTART_LIMIT_S = 60
RESTART_POLL_S = 0.5
# With it this is no first boot, which would enable every unit.
MACHINE_ID = "5" * 32 + "\n"
PARAMETERS = "systemd.getty_auto=no systemd.log_color=no"
TEXT = b"written before the server was killed"


def find_package(given: str | None) -> pathlib.Path:
    """The Debian package: the given one, or that of `ci/package`. LabFailure without one."""
    found = [pathlib.Path(given)] if given else sorted(PACKAGES.glob(PACKAGE))
    if len(found) != 1 or not found[0].is_file():
        where = given or f"{PACKAGES.relative_to(PROJECT)}/{PACKAGE}"
        raise LabFailure(f"there is no package {where}; ci/package makes it")
    return found[0]


def run(target: Target, package: pathlib.Path) -> Iterator[str]:
    """A sentence for each thing that was seen, and LabFailure at the first that is otherwise. Needs the target's
    lock."""
    host.need(PROGRAMS | host.MACHINE_PROGRAMS)
    image = Image(target)
    image.build()
    directory = target.directory / "unit"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    with _booted(target, image, package, directory) as (agent, ports):
        yield from _look(agent, ports, target.export)


@contextlib.contextmanager
def _booted(
    target: Target, image: Image, package: pathlib.Path, directory: pathlib.Path
) -> Iterator[tuple[Agent, dict[str, int]]]:
    ports = free_ports(list(target.ports))
    console = directory / "console.log"
    console.write_bytes(b"")
    channel = Channel(directory / "channel")
    root = _root(image, package, directory)
    machine = Machine(
        *(target, image.kernel, root, ports, console),
        serials=(channel.serial(),),
        parameters=PARAMETERS,
    )
    agent = Agent("guest", channel, machine)
    try:
        host.say(f"booting {target.name} with {image.version()}")
        seconds = machine.boot(lambda: channel.open(machine))
        host.say(f"ready after {seconds:.1f} s")
        agent.await_ready()
        yield agent, ports
    except LabFailure as failure:
        raise LabFailure(f"{failure}; {machine.last_words()}")
    finally:
        machine.power_off()
        channel.close()


def _root(image: Image, package: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """The root file system with the package's files, and its socket enabled."""
    added = directory / "added"
    added.mkdir()
    unpacked = directory / "package"
    host.run(["dpkg-deb", "--extract", str(package), str(unpacked)], EXTRACT_LIMIT_S)
    shutil.rmtree(unpacked / "usr/share", ignore_errors=True)
    unpacked.rename(added)
    link = added / ENABLED
    link.parent.mkdir(parents=True)
    link.symlink_to(UNIT)
    (added / "etc/machine-id").write_text(MACHINE_ID)
    return extend(image.root, added, directory / "root.cpio")


def _look(agent: Agent, ports: dict[str, int], export: str) -> Iterator[str]:
    state = _state(agent)
    _need(state == "inactive", f"before its first client {SERVICE} is {state}")
    credits = smoke.rdma_null(HOST, ports["rdma"])
    yield f"the first client over iWARP starts the server, which grants {credits} credits"

    process = _main_process(agent)
    _need(process.unprivileged(), f"the server's process has {process.text()}")
    yield f"its process has {process.text()}"
    own, first = agent.do(f"for p in {process.pid} 1; do readlink /proc/$p/ns/net; done")
    _need(own != first, "the server is in the network namespace of the first process")
    yield "it has a network namespace of its own"
    said = "\n".join(agent.do(f"journalctl --output=cat --unit={SERVICE}"))
    _need("sandbox without" not in said, f"the journal has: {said}")
    yield "it has its whole sandbox below that of systemd"

    with contextlib.closing(Nfs3(HOST, ports["tcp"], export)) as nfs:
        file = nfs.create(nfs.root, "file", 0o644)
        nfs.write(file, 0, TEXT, FILE_SYNC)
    agent.do(f"kill -KILL {process.pid}")
    _await_another(agent, process.pid)
    with contextlib.closing(Nfs3(HOST, ports["tcp"], export)) as nfs:
        _need(nfs.look_up(nfs.root, "file") == file, "a file has another handle after a kill")
        nfs.write(file, len(TEXT), TEXT, FILE_SYNC)
    size = agent.do("stat -c %s /var/lib/steertag/export/file")
    _need(size == [str(2 * len(TEXT))], f"the file has {size} octets after a kill and two WRITEs")
    yield "after a kill it comes back, and handles and files are the same"

    agent.do(f"systemctl stop {SERVICE}")
    smoke.rdma_null(HOST, ports["rdma"])
    yield "after a stop the next client starts it again"
    agent.do(f"systemctl stop {SOCKET} {SERVICE}")
    _need(_state(agent) == "inactive", f"{SERVICE} runs after a stop of both units")
    yield "a stop of both units ends it"

    level = _exposure(agent.do(f"systemd-analyze security --no-pager {SERVICE}"))
    _need(level <= MOST_EXPOSURE, f"systemd-analyze security says {level} of 10")
    yield f"systemd-analyze security says {level} of 10"


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise LabFailure(otherwise)


def _exposure(lines: list[str]) -> float:
    found = EXPOSURE.search(lines[-1]) if lines else None
    if found is None:
        raise LabFailure(f"systemd-analyze security says no level: {lines}")
    return float(found[1])


def _state(agent: Agent) -> str:
    return agent.do(f"systemctl is-active {SERVICE} || true")[-1]


def _main_process(agent: Agent) -> ProcessStatus:
    (pid,) = agent.do(f"systemctl show --property=MainPID --value {SERVICE}")
    _need(pid != "0", f"{SERVICE} has no process")
    return ProcessStatus.parse(int(pid), agent.do(f"cat /proc/{pid}/status"))


def _await_another(agent: Agent, pid: int) -> None:
    """Waits until the service has another process."""
    deadline = time.monotonic() + RESTART_LIMIT_S
    while time.monotonic() < deadline:
        (now,) = agent.do(f"systemctl show --property=MainPID --value {SERVICE}")
        if now not in ("0", str(pid)):
            return
        time.sleep(RESTART_POLL_S)
    raise LabFailure(f"{SERVICE} did not come back within {RESTART_LIMIT_S} s after a kill")

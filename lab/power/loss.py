"""The test of power loss: callers change files of our server in a machine whose disk logs its writes. The log
is cut in many places, and each disk that this leaves is held against what had been acknowledged."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import dataclasses
import pathlib
import random
import shutil
import time

from lab import host
from lab.failure import LabFailure
from lab.images import program
from lab.images.image import Image, extend
from lab.machines.machine import HOST, Machine, free_ports
from lab.power import cut, disk_image
from lab.power.caller import Caller
from lab.power.journal import Journal
from lab.power.nfs3 import Nfs3
from lab.power.nfs41 import Nfs41
from lab.power.write_log import WriteLog
from lab.power.tree import Tree
from lab.target import LAB, Target

CALLERS = 3  # their writes and flushes mix in the log
CALLS = 600  # of all callers
CUTS = 200
MOST_CUTS = 100_000
SEED = 1
WORK_LIMIT_S = 900
COMPILE_LIMIT_S = 60
MOST_SHOWN = 10  # losses
PROGRAMS = disk_image.PROGRAMS | {"gcc": "gcc"}
SERVICE = "tcp"
SKIPPED = ("all", "files", "directories")
PRELOADED = "lab/unsynced.so"  # in the guest


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run does. `skipped` are the objects that the host of the server does not force to the disk when
    asked: then there have to be losses."""

    cuts: int = CUTS
    calls: int = CALLS
    seed: int = SEED
    skipped: str | None = None


@dataclasses.dataclass
class Outcome:
    """Counts of a run, and a sentence for each loss."""

    cuts: int
    acknowledged: int
    entries: int
    fates: collections.Counter
    losses: list[str]

    def passed(self, plan: Plan) -> bool:
        """Whether there are no losses, or those that have to be."""
        return bool(self.losses) == (plan.skipped is not None)

    def text(self) -> str:
        """The counts."""
        fates = ", ".join(f"{count} with {fate}" for fate, count in sorted(self.fates.items()))
        return (
            f"{self.cuts} cuts in {self.entries} requests to the disk ({fates} of the unforced writes), "
            f"{self.acknowledged} acknowledged calls, {len(self.losses)} losses"
        )

    def first_losses(self) -> str:
        """A line for each of the first losses."""
        return "".join(f"  {loss}\n" for loss in self.losses[:MOST_SHOWN])


def run(target: Target, server: pathlib.Path, plan: Plan) -> Outcome:
    """Needs the target's lock. The disk, its log and the console stay in the target's directory."""
    host.need(PROGRAMS | host.MACHINE_PROGRAMS)
    image = Image(target)
    image.build()
    directory = target.directory / "power"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    base, log_path = directory / "base", directory / "log"
    disk_image.make(base)
    shutil.copyfile(base, directory / "disk")
    log_path.touch()
    journals = _work(target, image, server, plan, directory, log_path)
    log = WriteLog(log_path)
    try:
        return _judge(log, base, journals, plan, directory / "cut")
    finally:
        log.close()


def _work(
    target: Target,
    image: Image,
    server: pathlib.Path,
    plan: Plan,
    directory: pathlib.Path,
    log_path: pathlib.Path,
) -> list[Journal]:
    """Boots the machine, lets the callers work and powers it off; what was acknowledged."""
    ports = free_ports([SERVICE])
    console = directory / "console.log"
    console.write_bytes(b"")
    machine = Machine(
        *(target, image.kernel, _root(target, image, server, plan, directory), ports, console),
        options=_disk(directory / "disk", log_path),
    )
    try:
        host.say(f"booting {target.name} with {image.version()}")
        machine.boot()
        return _call(ports[SERVICE], target.export, plan, log_path)
    except LabFailure as failure:
        raise LabFailure(f"{failure}; {machine.last_words()}")
    finally:
        machine.power_off()


def _call(port: int, export: str, plan: Plan, log_path: pathlib.Path) -> list[Journal]:
    host.say(f"{CALLERS} callers do {plan.calls} calls")
    deadline = time.monotonic() + WORK_LIMIT_S

    def work(number: int) -> Journal:
        name = f"caller-{number}"
        with contextlib.ExitStack() as connections:
            nfs = connections.enter_context(contextlib.closing(Nfs3(HOST, port, export)))
            nfs41 = connections.enter_context(contextlib.closing(Nfs41(HOST, port, export, name)))
            rng = random.Random(f"{plan.seed} {number}")
            # A write is in the log before the disk answers, and so before the server's reply.
            caller = Caller(nfs, name, rng, lambda: log_path.stat().st_size, nfs41)
            caller.work(plan.calls // CALLERS, deadline)
            return caller.journal

    with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
        return list(pool.map(work, range(CALLERS)))


def _judge(
    log: WriteLog, base: pathlib.Path, journals: list[Journal], plan: Plan, scratch: pathlib.Path
) -> Outcome:
    rng = random.Random(plan.seed)
    acknowledged = [length for journal in journals for length in journal.acknowledged]
    cuts = cut.plan(log, acknowledged, plan.cuts, rng)
    host.say(f"looking at {len(cuts)} cuts")
    outcome = Outcome(len(cuts), len(acknowledged), len(log.entries), collections.Counter(), [])
    for one, path in cut.images(log, base, cuts, scratch, rng):
        length = log.entries[one.entries - 1].end if one.entries else 0
        outcome.fates[one.fate] += 1
        for loss in _losses(path, journals, length, scratch / "files"):
            outcome.losses.append(f"cut after request {one.entries} ({one.fate}): {loss}")
    return outcome


def _losses(
    image: pathlib.Path, journals: list[Journal], length: int, scratch: pathlib.Path
) -> list[str]:
    if damage := disk_image.mend(image):
        return [damage]
    found = disk_image.read(image, scratch)
    losses = []
    for journal in journals:
        tree = found.get(journal.directory, Tree())
        losses += journal.losses(tree, length)
    return losses


def _root(
    target: Target, image: Image, server: pathlib.Path, plan: Plan, directory: pathlib.Path
) -> pathlib.Path:
    """The root file system with the server, and with the host's fault if one is wanted."""
    listen = f"tcp://0.0.0.0:{target.ports[SERVICE]}"
    arguments = ["--listen", listen, "--export", target.export]
    environment = {}
    if plan.skipped:
        environment = {"LD_PRELOAD": f"/{PRELOADED}", "SKIPPED_SYNCS": plan.skipped}
    root = program.append(server, arguments, environment, image.root, directory / "program")
    if not plan.skipped:
        return root
    added = directory / "added"
    library = added / PRELOADED
    library.parent.mkdir(parents=True)
    source = LAB / "power" / "unsynced.c"
    host.run(["gcc", "-shared", "-fPIC", "-O", "-o", str(library), str(source)], COMPILE_LIMIT_S)
    return extend(root, added, directory / "root.cpio")


def _disk(disk: pathlib.Path, log: pathlib.Path) -> tuple[str, ...]:
    """A disk with a volatile cache. qemu logs what the guest writes, and its flushes."""
    file = "driver=file,cache.no-flush=on"  # the power of this machine stays
    return (
        *("-blockdev", f"{file},node-name=disk,filename={disk}"),
        *("-blockdev", f"{file},node-name=log,filename={log}"),
        *("-blockdev", "driver=blklogwrites,node-name=logged,file=disk,log=log"),
        *("-device", f"virtio-blk-pci,drive=logged,physical_block_size={cut.BLOCK_BYTES}"),
    )

"""A running virtual machine: the qemu process, its console and its end."""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable

from lab.failure import LabFailure, MachineDied
from lab.machines.link import Link
from lab.machines.own_network import TAPS, OwnNetwork
from lab.target import Target

READY_LINE = b"steertag-lab: ready"
# Written when the program that the role started has ended.
ENDED_LINE = re.compile(rb"steertag-lab: ended with status (\d+)")
# What the guest's kernel, or its first process, writes when it notices a defect.
COMPLAINTS = (
    *(
        b"Kernel panic",
        b"Oops",
        b"kernel BUG at",
        b"BUG:",
        b"WARNING:",
        b"general protection fault",
    ),
    *(b"blocked for more than", b"soft lockup", b"steertag-lab: failed"),
)

# The emulator rarely trips over a guest that patches its own code (an int3 before the first process runs).
MOST_STARTS = 3
READY_LIMIT_S = 120  # emulation takes about 12 s on idle cores; a busy CI host is far slower
POWER_OFF_LIMIT_S = 10
KILL_LIMIT_S = 10
TAIL_LINES = 12  # of the console, shown when the machine dies without a complaint
MAX_COMPLAINTS = 20  # more are in the console's log

HOST = "127.0.0.1"
MOST_PORT_TRIES = 20  # until so many ports in a row are free
# A kernel that has found its memory spoilt goes on. What it then does says nothing on the case.
TAINT_BAD_PAGE = 1 << 5


class Machine:
    """One boot of a target. Whoever starts it has to power it off."""

    def __init__(
        self,
        target: Target,
        kernel: pathlib.Path,
        root: pathlib.Path,
        ports: dict[str, int],
        console_log: pathlib.Path,
        role: str | None = None,
        serials: tuple[str, ...] = (),
        networks: tuple[str, ...] = (),
        own_network: OwnNetwork | None = None,
        shares: tuple[str, ...] = (),
        link: Link | None = None,
        parameters: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        """`ports` are those of the host, by service; `console_log` is appended to. `role` is another
        one than the target's. `serials` are the guest's further serial ports, as qemu names them.
        By `networks` (10.0.2.0/24) the guest reaches the host, at their address 2. By `own_network`
        it does too, at the same addresses. Without any it has a network card by which it is only reached.
        `shares` are directories of the host, as qemu's -virtfs names them. With a `link` the only network
        is that to another machine.
        `parameters` are further ones of the kernel, `options` of qemu.
        """
        self.target = target
        self.role = role or target.role
        self.serials = serials
        self.networks = networks
        self.own_network = own_network
        self.shares = shares
        self.link = link
        self.parameters = parameters
        self.options = options
        self.kernel = kernel
        self.root = root
        self.ports = ports
        self.console_log = console_log
        self._tail = collections.deque(maxlen=TAIL_LINES)
        self._complaints = []
        self._ready_or_ended = threading.Event()
        self._ended = threading.Event()
        self._program_ended = threading.Event()
        self._program_status = None
        self._process = None
        self._reader = None

    def boot(self, on_start: Callable[[], None] = lambda: None) -> float:
        """Starts the machine, anew if it dies on the way, and waits until its role is up; returns the
        seconds of that. After each start `on_start` has to take the serial ports that are read.
        """
        for _ in range(MOST_STARTS - 1):
            self.start()
            on_start()
            try:
                return self.wait_ready()
            except MachineDied:
                self.power_off()
        self.start()
        on_start()
        return self.wait_ready()

    def start(self) -> None:
        for event in (self._ready_or_ended, self._ended, self._program_ended):
            event.clear()
        self._complaints.clear()
        self._tail.clear()
        self._program_status = None
        # setpriv makes the kernel kill qemu even if this process is killed without warning.
        # An own session keeps a Ctrl-C at the terminal from ending the machine before its user.
        command = ["setpriv", "--pdeathsig", "KILL", *self._qemu()]
        self._process = subprocess.Popen(
            self.own_network.inside(command) if self.own_network else command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._follow_console, daemon=True)
        self._reader.start()

    def wait_ready(self) -> float:
        """Waits until the guest says that its role is up; returns the seconds that took."""
        start = time.monotonic()
        if not self._ready_or_ended.wait(READY_LIMIT_S):
            raise LabFailure(
                f"the guest was not ready within {READY_LIMIT_S} s; {self.last_words()}"
            )
        if not self.alive():
            raise MachineDied(f"the machine died before it was ready; {self.last_words()}")
        return time.monotonic() - start

    def wait_program(self, limit_s: float) -> int:
        """Waits until the program that the role started has ended; returns its exit status."""
        if not self._program_ended.wait(limit_s):
            raise LabFailure(f"the program did not end within {limit_s:.0f} s; {self.last_words()}")
        if self._program_status is None:
            raise LabFailure(f"the machine died before its program ended; {self.last_words()}")
        return self._program_status

    def program_ended(self) -> bool:
        """Whether the program that the role started has ended, or the machine."""
        return self._program_ended.is_set()

    def open_end(self) -> int:
        """A new descriptor that is readable once the machine has ended."""
        return os.pidfd_open(self._process.pid)

    def alive(self) -> bool:
        return not self._ended.is_set()

    def died(self) -> bool:
        """Whether the machine was started and has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def dies(self, limit_s: float) -> bool:
        """Whether the machine has ended by itself within the limit, and its console is read."""
        return self._process is not None and self._ended.wait(limit_s)

    def complaints(self) -> list[str]:
        """Lines of the console in which the guest's kernel notices a defect of its own."""
        return list(self._complaints)

    def last_words(self) -> str:
        """What the console says about the end, as part of a sentence."""
        lines = self.complaints() or list(self._tail)
        quoted = "".join(f"\n    {line}" for line in lines)
        return f"its console ({self.console_log}) says:{quoted}"

    def power_off(self) -> None:
        """Ends qemu; what the guest has not saved is lost."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(POWER_OFF_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(KILL_LIMIT_S)
        self._reader.join(KILL_LIMIT_S)
        self._process.stdout.close()

    def _qemu(self) -> list[str]:
        target = self.target
        # With -no-reboot a panic ends qemu. A kernel that notices a defect of its own is then seen
        # as a dead machine. It does not limp on and fail the cases that follow.
        append = (
            "console=ttyS0 rdinit=/init loglevel=5 net.ifnames=0 "
            f"oops=panic panic_on_taint={TAINT_BAD_PAGE:#x} panic=-1 cryptomgr.notests "
            f"role={self.role} rdma_device={target.device} export_path={target.export}"
        )
        append += "".join(f" {service}_port={port}" for service, port in target.ports.items())
        append += f" {self.parameters}"
        serials = [part for name in self.serials for part in ("-serial", name)]
        shares = [part for share in self.shares for part in ("-virtfs", share)]
        if self.link is not None:
            append += f" {self.link.parameters()}"
        return [
            *("qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot"),
            *("-accel", "tcg,thread=multi", "-cpu", "max"),
            *("-smp", str(target.cpus), "-m", f"{target.memory_mb}M"),
            *("-kernel", str(self.kernel), "-initrd", str(self.root), "-append", append),
            *("-display", "none", "-serial", "stdio", *serials, *shares, *self._cards()),
            *self.options,
        ]

    def _cards(self) -> list[str]:
        """The network cards, as options of qemu."""
        if self.link is not None:
            return self.link.options()
        if self.own_network is not None:
            kinds = [f"tap,ifname={tap},script=no,downscript=no" for tap in TAPS]
        elif self.networks:
            kinds = [f"user,net={network}" for network in self.networks]
        else:
            forwards = "".join(
                f",hostfwd=tcp:{HOST}:{port}-:{self.target.ports[service]}"
                for service, port in self.ports.items()
            )
            kinds = [f"user,restrict=on{forwards}"]
        options = []
        for number, kind in enumerate(kinds):
            named = kind.replace(",", f",id=net{number},", 1)
            options += ["-netdev", named, "-device", f"virtio-net-pci,netdev=net{number},romfile="]
        return options

    def _follow_console(self) -> None:
        """Copies the console into its log until qemu ends; reports readiness on the way."""
        with open(self.console_log, "ab") as log:
            for line in self._process.stdout:
                log.write(line)
                log.flush()
                text = line.decode(errors="replace").rstrip()
                self._tail.append(text)
                if len(self._complaints) < MAX_COMPLAINTS and any(c in line for c in COMPLAINTS):
                    self._complaints.append(text)
                if READY_LINE in line:
                    self._ready_or_ended.set()
                if ended := ENDED_LINE.search(line):
                    self._program_status = int(ended[1])
                    self._program_ended.set()
        self._ended.set()
        self._ready_or_ended.set()
        self._program_ended.set()


def free_ports(services: list[str]) -> dict[str, int]:
    """A free TCP port of 127.0.0.1 for each service; all are held until all are chosen."""
    sockets = {service: socket.create_server((HOST, 0)) for service in services}
    ports = {service: server.getsockname()[1] for service, server in sockets.items()}
    for server in sockets.values():
        server.close()
    return ports


def first_of_free_ports(count: int) -> int:
    """The first of so many free TCP ports of 127.0.0.1 in a row."""
    for _ in range(MOST_PORT_TRIES):
        with contextlib.ExitStack() as held:
            first = held.enter_context(socket.create_server((HOST, 0))).getsockname()[1]
            try:
                for port in range(first + 1, first + count):
                    held.enter_context(socket.create_server((HOST, port)))
            except (OSError, OverflowError):  # taken, or above the last
                continue
            return first
    raise LabFailure(f"{HOST} has no {count} free TCP ports in a row")

"""For tests: a program in the place of qemu, with a console and one serial port, that dies as often as a test
wants."""

from __future__ import annotations

import pathlib
import sys

import pytest

from lab.machines.machine import READY_LINE, Machine

PROGRAM = """
import pathlib, signal, socket, sys

count, deaths, path, line, ready = sys.argv[1:]
serial = socket.socket(socket.AF_UNIX)
serial.connect(path)
starts = int(pathlib.Path(count).read_text()) + 1
pathlib.Path(count).write_text(str(starts))
if starts <= int(deaths):
    serial.sendall(b"what it said befo")
    print("kernel BUG at the beginning", flush=True)
    sys.exit(1)
if line:
    serial.sendall(line.encode() + b"\\n")
print(ready, flush=True)
if serial.recv(1):  # the line goes before the rest of the machine
    serial.close()
    print("kernel BUG in the middle", flush=True)
    sys.exit(1)
signal.pause()
"""


class Emulator:
    """Stands in for qemu from now on."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, count: pathlib.Path, deaths: int, line: str
    ) -> None:
        """Dies so often before the role is up; then sends the line, if it is not empty, and waits. A word
        from the host kills it."""
        self._count = count
        count.write_text("0")

        def command(machine: Machine) -> list[str]:
            path = machine.serials[0].removeprefix("unix:")
            arguments = [str(count), str(deaths), path, line, READY_LINE.decode()]
            return [sys.executable, "-c", PROGRAM, *arguments]

        monkeypatch.setattr(Machine, "_qemu", command)

    def starts(self) -> int:
        return int(self._count.read_text())

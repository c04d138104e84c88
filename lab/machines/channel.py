"""The line to a guest: its second serial port as a socket of the host, one line of text a message."""

from __future__ import annotations

import os
import pathlib
import select
import socket
import time
from collections.abc import Iterator

from lab.failure import LabFailure
from lab.machines.machine import Machine
from lab.target import PROJECT

ACCEPT_LIMIT_S = 20  # qemu connects before it starts the processor
MOST_LINE_BYTES = 65536
READ_BYTES = 4096


class Silent(Exception):
    """Nothing came within the limit."""


class Channel:
    """Made before the machine, which connects to it; read and written by one thread."""

    def __init__(self, path: pathlib.Path) -> None:
        # Relative, because a socket's path has room for about 100 octets; main() goes to PROJECT.
        self._path = path.relative_to(PROJECT)
        self._path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen(1)
        self._stream = None
        self._end = None
        self._pending = b""

    def serial(self) -> str:
        """The guest's serial port, as qemu names it."""
        return f"unix:{self._path}"

    def open(self, machine: Machine) -> None:
        """Waits for the machine, which has been started; the line to one before it is closed."""
        self._hang_up()
        self._end = machine.open_end()
        ready, _, _ = select.select([self._listener, self._end], [], [], ACCEPT_LIMIT_S)
        if self._listener not in ready:
            raise LabFailure(f"qemu did not open the serial port; {machine.last_words()}")
        self._stream, _ = self._listener.accept()

    def send(self, line: str) -> None:
        try:
            self._stream.sendall(f"{line}\n".encode())
        except OSError as error:
            raise LabFailure(f"the machine does not listen any more: {error}")

    def fileno(self) -> int:
        """Readable when the guest has written something."""
        return self._stream.fileno()

    def lines(self, most: int) -> Iterator[str]:
        """The lines that have come, `most` of them at a time; LabFailure if the machine has ended."""
        for _ in range(most):
            try:
                yield self.read_line(0)
            except Silent:
                return

    def read_line(self, deadline: float) -> str:
        """The next line; Silent after the deadline, LabFailure if the machine ends before."""
        while b"\n" not in self._pending:
            if len(self._pending) > MOST_LINE_BYTES:
                raise LabFailure(f"the guest sent a line of more than {MOST_LINE_BYTES} octets")
            left_s = max(0, deadline - time.monotonic())
            ready, _, _ = select.select([self._stream], [], [], left_s)
            if not ready:
                raise Silent
            try:
                data = self._stream.recv(READ_BYTES)
            except OSError:  # it has left something unread
                data = b""
            if not data:
                raise LabFailure("the machine has ended")
            self._pending += data
        line, self._pending = self._pending.split(b"\n", 1)
        return line.decode(errors="replace").rstrip("\r")

    def close(self) -> None:
        self._hang_up()
        self._listener.close()
        self._path.unlink(missing_ok=True)

    def _hang_up(self) -> None:
        if self._stream is not None:
            self._stream.close()
        if self._end is not None:
            os.close(self._end)
        self._stream = self._end = None
        self._pending = b""

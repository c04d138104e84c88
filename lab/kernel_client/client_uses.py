"""Uses of a client in a guest: the client suite's command asks for one, the guest's agent does it."""

from __future__ import annotations

import collections
import dataclasses
import pathlib
import socket

from lab.machines.channel import Channel
from lab.target import PROJECT

WAITING_USERS = 4  # the suite waits for one before it asks for the next
MOST_LOG_LINES = 80  # the agent sends no more


@dataclasses.dataclass
class Use:
    """One that the agent does; `user` is None once it is not waited for any more."""

    number: int
    user: socket.socket | None
    log: list[str] = dataclasses.field(default_factory=list)


class Uses:
    """The socket to which use.py connects. One use at a time; a user that hangs up wants its use ended."""

    def __init__(self, path: pathlib.Path, version: str, ports: dict[str, int]) -> None:
        self._order = f"{version} {ports['rdma']} {ports['tcp']}"
        # Relative, because a socket's path has room for about 100 octets; main() goes to PROJECT.
        self._path = path.relative_to(PROJECT)
        self._path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self._path))
        self.listener.listen(WAITING_USERS)
        self._waiting = collections.deque()
        self._current = None
        self._count = 0

    @property
    def users(self) -> list[socket.socket]:
        """Those that wait: readable when they hang up."""
        current = [self._current.user] if self._current and self._current.user else []
        return [*current, *self._waiting]

    def accept(self, channel: Channel) -> None:
        """Takes a user, which says nothing but by hanging up."""
        user, _ = self.listener.accept()
        self._waiting.append(user)
        self.advance(channel)

    def hang_up(self, user: socket.socket, channel: Channel) -> None:
        """The user does not wait any more: what the guest does for it is ended."""
        user.close()
        if user in self._waiting:
            self._waiting.remove(user)
        elif self._current and self._current.user is user:
            self._current.user = None
            channel.send(f"end-use {self._current.number}")

    def hear(self, line: str, channel: Channel) -> None:
        """What the agent says of the use: lines `log TEXT`, then `used NUMBER STATUS`."""
        if self._current is None:
            return
        words = line.split()
        if words[:2] == ["used", str(self._current.number)] and len(words) == 3:
            self._answer(words[2])
            self.advance(channel)
        elif len(self._current.log) < MOST_LOG_LINES:
            self._current.log.append(line.removeprefix("log "))

    def advance(self, channel: Channel) -> None:
        """Starts the next use if none is under way."""
        if self._current is None and self._waiting:
            self._count += 1
            self._current = Use(self._count, self._waiting.popleft())
            channel.send(f"use {self._count} {self._order}")

    def drop(self) -> None:
        """Hangs up on everybody: the machine is gone."""
        for user in self.users:
            user.close()
        self._waiting.clear()
        self._current = None

    def close(self) -> None:
        self.drop()
        self.listener.close()
        self._path.unlink(missing_ok=True)

    def _answer(self, status: str) -> None:
        user, text = self._current.user, "".join(f"{line}\n" for line in self._current.log)
        self._current = None
        if user is None:
            return
        with user:
            try:
                user.sendall(f"{text}{status}\n".encode())
            except OSError:
                pass  # it did not wait

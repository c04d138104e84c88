"""The agent of a guest that does what the lab orders, a line of shell at a time (guest/lab/orders)."""

from __future__ import annotations

import time
from collections.abc import Callable

from lab.failure import LabFailure
from lab.machines.channel import Channel, Silent
from lab.machines.machine import Machine

READY, DONE, LOG = "agent ready", "done ", "log "
READY_LIMIT_S = 60
# A mount takes a second; two machines that do not find each other are silent for a minute.
ORDER_LIMIT_S = 120


class OrderFailed(LabFailure):
    """An order ended with another status than 0: on other machines it would too."""


class Agent:
    """`name` is that of the machine, as part of a sentence."""

    def __init__(self, name: str, channel: Channel, machine: Machine) -> None:
        self._name = name
        self._channel = channel
        self._machine = machine

    def await_ready(self) -> None:
        self._await(lambda line: line == READY, READY_LIMIT_S, "say that it listens")

    def do(self, command: str, limit_s: float = ORDER_LIMIT_S) -> list[str]:
        """Runs one line of shell, and returns the lines that it printed. OrderFailed if it does not end with 0,
        LabFailure if it does not end within its limit."""
        self._channel.send(command)
        lines = self._await(lambda line: line.startswith(DONE), limit_s, command)
        if lines[-1] != f"{DONE}0":
            told = "".join(f"\n    {line}" for line in lines)
            raise OrderFailed(f"the {self._name} failed at `{command}`:{told}")
        return [line.removeprefix(LOG) for line in lines if line.startswith(LOG)]

    def _await(self, is_last: Callable[[str], bool], limit_s: float, what: str) -> list[str]:
        """The lines that come, to the one that is looked for."""
        deadline = time.monotonic() + limit_s
        lines = []
        try:
            while not lines or not is_last(lines[-1]):
                lines.append(self._channel.read_line(deadline))
        except Silent:
            raise LabFailure(
                f"the {self._name} did not {what} within {limit_s} s; {self._machine.last_words()}"
            )
        return lines

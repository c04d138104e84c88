"""The socket by which `ci/lab restart` reaches the process that owns a target's machine."""

from __future__ import annotations

import pathlib
import socket
from collections.abc import Callable

from lab.failure import LabFailure
from lab.machines.machine import READY_LIMIT_S
from lab.target import PROJECT, Target

ANSWER_LIMIT_S = READY_LIMIT_S + 30  # a restart is a power-off and a boot
ANSWER_BYTES = 65536
READY = "ready"


def _path(target: Target) -> str:
    # Relative, because a socket's path has room for about 100 octets; main() goes to PROJECT.
    return str((target.directory / "control").relative_to(PROJECT))


class Control:
    """The owner's end. Connecting to it is the request; the answer is one sentence."""

    def __init__(self, target: Target) -> None:
        """Needs the target's lock: a socket that is already there has no owner."""
        pathlib.Path(_path(target)).unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(_path(target))
        self._socket.listen()

    def fileno(self) -> int:
        """Readable when a client waits for an answer."""
        return self._socket.fileno()

    def answer(self, restart: Callable[[], None]) -> None:
        """Does what the next client waits for and tells it how that went."""
        client, _ = self._socket.accept()
        with client:
            try:
                restart()
                sentence = READY
            except LabFailure as failure:
                sentence = str(failure)
            try:
                client.sendall(sentence.encode())
            except OSError:
                pass  # it did not wait

    def close(self) -> None:
        self._socket.close()


def request_restart(target: Target) -> None:
    """Asks the owner for a restart and waits until the machine is ready again."""
    with socket.socket(socket.AF_UNIX) as owner:
        owner.settimeout(ANSWER_LIMIT_S)
        try:
            owner.connect(_path(target))
            answer = owner.recv(ANSWER_BYTES, socket.MSG_WAITALL).decode()
        except (FileNotFoundError, ConnectionRefusedError):
            raise LabFailure(f"no ci/lab of this checkout runs {target.name}")
        except OSError as error:
            raise LabFailure(f"the ci/lab that runs {target.name} did not answer: {error}")
    if answer != READY:
        raise LabFailure(answer or f"the ci/lab that ran {target.name} has ended")

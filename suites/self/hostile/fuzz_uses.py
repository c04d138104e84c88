"""What clients of the fuzzed server do: its uses, by name. A use ends where something fails."""

import dataclasses
import tempfile
from collections.abc import Callable

from fuzz_calls import chunks, names
from fuzz_state import delegations, opens
from fuzz_talk import Talk
from steertag import peer

BOTH = ("rdma", "tcp")


@dataclasses.dataclass(frozen=True)
class Use:
    """`play(client)` is one use by a Client, of so many `messages` at most."""

    play: Callable
    over: tuple
    versions: tuple
    messages: int


@dataclasses.dataclass(frozen=True)
class Client:
    """Where a client finds the server, and what it works with: files of `size` octets below the name `name`. It waits
    for each answer for `limit_s`."""

    url: str
    mount_port: int
    version: int
    size: int
    name: str
    limit_s: float


def files(client):
    """What the reference client does: a file is stored, listed, read, renamed and removed."""
    with tempfile.TemporaryFile() as local:
        local.write(bytes(client.size))
        local.flush()
        remote = peer.Files(
            client.url,
            version=client.version,
            uid=0,
            mount_port=client.mount_port,
            timeout_s=client.limit_s,
        )
        directory = remote.find("/export")
        storing = remote.store(local.fileno(), client.size, directory, client.name, 0o644)
        while not storing.step(client.limit_s):
            pass
        found = remote.find(f"/export/{client.name}")
        remote.list(directory)
        remote.names(directory)
        fetching = remote.fetch(found, local.fileno())
        while not fetching.step(client.limit_s):
            pass
        remote.rename(directory, client.name, f"{client.name}-renamed")
        remote.remove(directory, f"{client.name}-renamed")
        remote.end()


def talking(converse):
    """The play of a use whose calls are made one by one: `converse(talk, size, name)`."""

    def play(client):
        talk = Talk(client.url, client.limit_s)
        converse(talk, client.size, client.name)
        talk.close()

    return play


USES = {
    "files": Use(files, BOTH, (3, 4), 25),
    "names": Use(talking(names), BOTH, (3,), 30),
    "chunks": Use(talking(chunks), ("rdma",), (3,), 30),
    "opens": Use(talking(opens), BOTH, (4,), 32),
    "delegations": Use(talking(delegations), BOTH, (4,), 40),
}

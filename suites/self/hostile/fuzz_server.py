#!/usr/bin/env python3
"""Fuzzes the whole server over its sockets: real clients use it, and some of their messages are changed.

`fuzz_server.py FOLDER INPUTS [FIRST [ARGUMENT...]]` plays the kept corpus and then so many inputs of their own. The
arguments are those of `steertag serve`. After each input the server must be alive, answer a client that conforms, and stay below a limit of memory. `fuzz_server.py
FOLDER FILE` plays one input again. Inputs that break something stay in FOLDER."""

import contextlib
import dataclasses
import multiprocessing
import os
import pathlib
import random
import re
import sys

import yaml
from fuzz_changes import Change, random_changes
from fuzz_proxy import Proxy
from fuzz_streams import IwarpStream, RecordStream
from fuzz_uses import Client, USES
from steertag import build_paths, peer
from steertag.suite.cases.case_end import CaseEnd
from steertag.suite.run.server_process import BundledServer

CORPUS = build_paths.checkout() / "fixtures" / "corpus" / "serve"
PROGRAM = os.environ.get("STEERTAG_SERVE") or str(build_paths.tool("steertag-serve"))
# A client whose call is not answered gives up; most changed calls are discarded.
CALL_LIMIT_S = 0.2
# Of one use, with all its calls that are not answered.
USE_LIMIT_S = 10
# The client that conforms waits this long, on a busy machine too.
ANSWER_LIMIT_S = 20
# Several times what a server with some hundred files has.
MOST_MEMORY_MIB = 256
STREAMS = {"rdma": IwarpStream, "tcp": RecordStream}
SCHEMES = {"rdma": "iwarp", "tcp": "tcp"}
# Inline, in one chunk, in some calls.
SIZES = (100, 5000, 40000)


@dataclasses.dataclass(frozen=True)
class Input:
    """A use of the server by a client, and the changes of its messages. `use` is a name of USES."""

    over: str
    version: int
    size: int
    changes: list
    use: str = "files"

    def text(self):
        return yaml.safe_dump(dataclasses.asdict(self), sort_keys=False, default_flow_style=None)


def read(path):
    """The Input of a file. Raises ValueError."""
    try:
        fields = yaml.safe_load(path.read_text(encoding="utf-8"))
        one = Input(**{**fields, "changes": [Change(**each) for each in fields["changes"]]})
    except (TypeError, KeyError, yaml.YAMLError) as error:
        raise ValueError(f"{path} is no input: {error}") from None
    if one.use not in USES or one.over not in STREAMS:
        raise ValueError(f"{path} is no input: no client has the use {one.use} over {one.over}")
    return one


def made(seed):
    """The Input of a seed, the same each time."""
    source = random.Random(seed)
    name = source.choice(sorted(USES))
    use = USES[name]
    return Input(
        source.choice(use.over),
        source.choice(use.versions),
        source.choice(SIZES),
        random_changes(source, use.messages),
        name,
    )


def _use_quietly(play, client):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with contextlib.suppress(RuntimeError, OSError, CaseEnd):
        play(client)


class Fuzzed:
    """The server, and what has been found."""

    def __init__(self, folder, *arguments):
        self._folder = pathlib.Path(folder)
        self._server = BundledServer(PROGRAM, "iwarp://127.0.0.1:0", arguments, folder, "fuzzed")
        self._server.start()
        self.messages = 0
        self._played = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.stop()

    @property
    def urls(self):
        return self._server.urls

    @property
    def mount_port(self):
        return _address(self._server.urls["tcp"])[1]

    def play(self, one):
        """What the server did wrong, a sentence; "" if nothing."""
        self._played += 1
        self._use(one)
        found = self._fault()
        if found:
            self._server.restart()
        return found

    def keep(self, one, name):
        path = self._folder / f"{name}.yaml"
        path.write_text(one.text(), encoding="utf-8")
        return path

    def client(self, one, url, limit_s=CALL_LIMIT_S):
        """The Client of an Input whose server is at this URL."""
        where = url, self.mount_port
        return Client(*where, one.version, one.size, f"file-{self._played}", limit_s)

    def _use(self, one):
        proxy = Proxy(_address(self._server.urls[one.over]), STREAMS[one.over], one.changes)
        url = f"{SCHEMES[one.over]}://127.0.0.1:{proxy.port}/export"
        arguments = (USES[one.use].play, self.client(one, url))
        client = multiprocessing.get_context("fork").Process(target=_use_quietly, args=arguments)
        with contextlib.closing(proxy):
            client.start()
            if not proxy.run_until_ready(client.sentinel, USE_LIMIT_S):
                client.kill()
            client.join()
            client.close()
            self.messages += proxy.messages

    def _fault(self):
        death = self._server.death()
        if death:
            return f"the server ended: {death}: {self._server.output()[-2000:]}"
        for over, url in self._server.urls.items():
            files = None
            try:
                files = peer.Files(url, version=4, uid=0, timeout_s=ANSWER_LIMIT_S)
                files.list(files.find("/export"))
            except (RuntimeError, OSError) as error:
                end = self._server.death()
                return f"the server ended: {end}" if end else f"over {over} no answer: {error}"
            finally:
                if files is not None:
                    files.end()
        used = _resident_mib(self._server.pid)
        return f"the server has {used} MiB" if used > MOST_MEMORY_MIB else ""


def _address(url):
    host, port = url.removesuffix("/export").rpartition("//")[2].split(":")
    return host, int(port)


def _resident_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) >> 10


def inputs(count, first):
    """(name, Input): the corpus, then those of the seeds."""
    for path in sorted(CORPUS.glob("*.yaml")):
        yield path.stem, read(path)
    for seed in range(first, first + count):
        yield f"seed-{seed}", made(seed)


def main(folder, what="1000", first="1", *arguments):
    os.makedirs(folder, exist_ok=True)
    path = pathlib.Path(what)
    played = [(path.stem, read(path))] if path.is_file() else inputs(int(what), int(first))
    wrong = count = 0
    with Fuzzed(folder, *arguments) as fuzzed:
        for name, one in played:
            count += 1
            found = fuzzed.play(one)
            if found:
                wrong += 1
                print(f"{fuzzed.keep(one, f'found-{name}')}: {found}", flush=True)
        print(f"{count} inputs, {fuzzed.messages} messages: {wrong} broke something")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (TypeError, ValueError, OSError) as error:
        sys.exit(f"fuzz_server: {error}")

#!/usr/bin/env python3
"""pNFS in processes of its own: a metadata server, data servers, and their ends by SIGKILL while a client copies.

As a program it copies a file there and back, and compares the octets:

    build/venv/bin/python suites/self/peers/pnfs_processes.py --mib 512 --times 50

Each server has what clients write UNSTABLE in its own memory, and loses it when it dies. The program fails with
`--no-pnfs`, and with `--client-deviate commit-verifier-uncompared`: so it can see a client that goes wrong.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from pnfs_traffic import check_repeated, check_used, Places, Traffic
from steertag.build_paths import tool
from steertag.suite.exchange.roce_address import with_free_address
from steertag.suite.tcp.local_port import free_port

SERVERS = 3
LEASE_S = 5
DEADLINE_S = 30
COPY_LIMIT_S = 600
# How often the progress of a copy is looked at.
LOOK_S = 0.002
# Of the client: short, so that it uses a data server again that has died in the same copy.
PAUSE_S = 0.1
# Of the file, in the memory of each server at most: octets reach the directory during a copy.
UNSTABLE_SHARE = 32
# What a data server prints of the metadata server.
JOINED, PARTED = "the metadata server is here", "no metadata server: "
LISTENING = re.compile(r"listening at (\S+)\n")
CHUNK = 1 << 20
BLOCK = 512  # of st_blocks


class Part:
    """One server as a process, which can be killed and started again at the same address."""

    def __init__(self, name, command, log):
        self.name, self._command, self._log = name, command, log
        self.process = self.url = None
        self._log_begins = self._carried_before = 0
        self.start()

    def start(self):
        self._log_begins = self._log.stat().st_size if self._log.exists() else 0
        with open(self._log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=log, text=True
            )
        line = self.process.stdout.readline()
        found = LISTENING.fullmatch(line)
        assert found, f"{self.name} did not start: {line}{self.log()}"
        self.url = found[1]
        self._carried_before = 0
        self._carried_before = self.carried()

    def start_elsewhere(self, port):
        """Starts it at another port than before."""
        at = self._command.index("--listen") + 1
        self._command[at] = f"{self._command[at].rpartition(':')[0]}:{port}"
        self.start()

    def kill(self):
        """Ends it as a crash does."""
        self.process.kill()
        self._gone()

    def end(self):
        self.process.terminate()
        self._gone()
        assert self.process.returncode == 0, f"{self.name}: {self.log()}"

    def _gone(self):
        self.process.communicate(timeout=DEADLINE_S)

    def carried(self):
        """Octets that its process has read and written since it was started, as the kernel counts them. They are
        those of the file, and of some kinds of sockets."""
        with open(f"/proc/{self.process.pid}/io", encoding="ascii") as counts:
            found = dict(line.split(": ") for line in counts)
        return int(found["rchar"]) + int(found["wchar"]) - self._carried_before

    def log(self):
        """What it has printed since it was started last."""
        with open(self._log, encoding="utf-8") as log:
            log.seek(self._log_begins)
            return log.read()


class Cluster:
    """A metadata server and data servers of one exported directory. Each keeps `unstable_mib` of what is UNSTABLE in
    its own memory; 0: none."""

    def __init__(
        self,
        folder,
        provider="iwarp",
        servers=SERVERS,
        lease_s=LEASE_S,
        options=(),
        unstable_mib=0,
    ):
        self.provider = provider
        self.export = folder / "export"
        self.export.mkdir()
        self.export.chmod(0o777)
        self.control = folder / "control"
        program = os.environ.get("STEERTAG_SERVE") or tool("steertag-serve")
        base = [program, "--export", self.export, "--handle-key", folder / "key"]
        base += ["--control", self.control, "--lease", str(lease_s)]
        if unstable_mib:
            base += ["--unstable-memory", str(unstable_mib)]
        first = free_port(random.Random(os.getpid()), in_a_row=1 + servers)
        self.parts = []

        def add(name, place, *more):
            # Over roce each process has an address of its own; the port has to stay over its deaths.
            host = with_free_address(f"{provider}://127.0.0.1:0").removesuffix("0")
            listen = f"{host}{first + place}"
            command = [*map(str, base), "--listen", listen, *map(str, more)]
            self.parts.append(Part(name, command, folder / f"{name}.log"))

        try:
            add("mds", 0, "--pnfs-mds", servers, "--recovery", folder / "recovery", *options)
            for number in range(1, 1 + servers):
                add(f"ds{number}", number, "--pnfs-ds", number)
            self.await_all()
        except BaseException:
            self._kill_all()  # __exit__ never comes
            raise

    @property
    def url(self):
        return self.parts[0].url + "/export"

    @property
    def data_servers(self):
        return self.parts[1:]

    def await_all(self):
        """Waits until all data servers have joined the metadata server that is there, and know it."""
        for number, part in enumerate(self.data_servers, 1):
            here, gone = f"data server {number} is here", f"data server {number} is gone"
            self.await_log(lambda log: log.count(here) > log.count(gone))
            # Its answer is under way. That the former one is gone was printed before.
            self.await_log(lambda log: log.rfind(JOINED) > log.rfind(PARTED), part)

    def await_log(self, reached, part=None):
        """Waits until this holds for what a part has printed, by default the metadata server."""
        part = part or self.parts[0]
        end = time.monotonic() + DEADLINE_S
        while not reached(part.log()):
            assert time.monotonic() < end, self.logs()
            with contextlib.suppress(subprocess.TimeoutExpired):
                part.process.wait(LOOK_S)

    def move_data_server(self):
        """The first data server dies, and comes back at another port."""
        moved, gone = self.parts[1], "data server 1 is gone"
        before = self.parts[0].log().count(gone)
        moved.kill()
        self.await_log(lambda log: log.count(gone) > before)
        moved.start_elsewhere(free_port(random.Random()))

    def logs(self):
        return "".join(f"--- {part.name}\n{part.log()}" for part in self.parts)

    def end(self):
        for part in self.parts:
            part.end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._kill_all()

    def _kill_all(self):
        for part in self.parts:
            part.process.kill()
            part.process.communicate()


def octets_in(folder):
    """Those of its files that are there; one may have its size from the start."""
    octets = 0
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # renamed meanwhile
            octets += path.stat().st_blocks * BLOCK
    return octets


@dataclasses.dataclass
class Copy:
    """One copy while parts of the cluster died."""

    text: str  # what the command printed
    died: list  # Part, in order
    traffic: Traffic


def copy_under_kills(cluster, command, folder, size, kills, turn):
    """Runs a copy while parts of the cluster die, `kills` times, one after the other in the order of `turn`.

    The copy grows in `folder`, by another name at first. Gives a Copy.
    """
    done = Copy("", [], Traffic(cluster.data_servers))
    before = octets_in(folder)
    end = time.monotonic() + COPY_LIMIT_S
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as copy:
        while copy.poll() is None:
            assert time.monotonic() < end, f"the copy does not end\n{cluster.logs()}"
            reached = octets_in(folder) - before
            deaths = len(done.died)
            if deaths < kills and reached >= size * (deaths + 1) // (kills + 1):
                part = next(turn)
                done.traffic.dies(part)
                part.kill()
                part.start()
                done.died.append(part)
            with contextlib.suppress(subprocess.TimeoutExpired):
                copy.wait(LOOK_S)
        done.text = copy.stdout.read()
    done.traffic.end()
    assert copy.returncode == 0, done.text + cluster.logs()
    return done


def cp(source, target, more=()):
    """The command that copies."""
    command = [sys.executable, "-m", "steertag", "cp", source, target]
    return [*command, "--data-server-pause", str(PAUSE_S), *more]


def same_octets(first, second):
    with open(first, "rb") as one, open(second, "rb") as other:
        while True:
            octets = one.read(CHUNK)
            if octets != other.read(CHUNK):
                return False
            if not octets:
                return True


def there_and_back(cluster, source, folder, kills, turn, more=()):
    """Copies to the cluster and back into an empty folder, with so many deaths each way. Checks the octets;
    gives both as Copy. `more`: options of the command."""
    size = source.stat().st_size
    stored, back = cluster.export / "file", folder / "back"
    url = f"{cluster.url}/{stored.name}"
    there = copy_under_kills(cluster, cp(source, url, more), cluster.export, size, kills, turn)
    assert same_octets(source, stored), f"octets are lost or wrong in the export\n{cluster.logs()}"
    cluster.await_all()
    again = copy_under_kills(cluster, cp(url, back, more), folder, size, kills, turn)
    assert same_octets(source, back), f"octets are lost or wrong on the way back\n{cluster.logs()}"
    cluster.await_all()
    stored.unlink()
    back.unlink()
    return there, again


def copy_by_deviating(cluster, source, kills, turn, deviation):
    """A client with this deviation copies a file of the cluster to another one there, which is compared."""
    inner, copied = cluster.export / "source", cluster.export / "copy"
    shutil.copyfile(source, inner)
    command = [tool("steertag-copy"), cluster.url, "--deviate", deviation]
    command += ["--data-server-pause-ms", int(PAUSE_S * 1000)]
    size = source.stat().st_size
    done = copy_under_kills(cluster, command, cluster.export, size, kills, turn)
    assert same_octets(source, copied), "octets are lost or wrong in the export"
    cluster.await_all()
    inner.unlink()
    copied.unlink()
    return done


def shuffled_rounds(parts, chance):
    """All parts, in another order each time."""
    while True:
        yield from chance.sample(parts, len(parts))


def check_deaths(died, asked):
    """Ends the program unless as many parts have died as were asked for. A copy may be over before its kills are."""
    if died != asked:
        sys.exit(
            f"{died} parts died of the {asked} asked for: the copies were over too early, try a larger --mib"
        )


def unstable_mib(mib):
    """Of a server, for a file of this size."""
    return max(1, mib // UNSTABLE_SHARE)


def run(words, cluster, source, folder, turn):
    """All copies; the number of deaths."""
    died, copies, traffics = 0, [], []
    more = ["--no-pnfs"] if words.no_pnfs else []
    for number in range(1, words.times + 1):
        began = time.monotonic()
        if words.client_deviate:
            both = [copy_by_deviating(cluster, source, words.kills, turn, words.client_deviate)]
        else:
            both = there_and_back(cluster, source, folder, words.kills, turn, more)
            copies.append(both[0])
        traffics += [each.traffic for each in both]
        deaths = sum(len(each.died) for each in both)
        again = sum(each.traffic.used_again for each in both)
        died += deaths
        text = " ".join(" ".join(each.text.split()) for each in both)
        seconds = time.monotonic() - began
        print(
            f"{number}: {deaths} deaths, {again} data servers used again, {seconds:.1f} s; {text}",
            flush=True,
        )
    check_used(traffics, [part.name for part in cluster.data_servers])
    check_repeated([(Places.read(each.text), each.died) for each in copies], source.stat().st_size)
    return died


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--provider", default="iwarp", choices=["iwarp", "roce", "tcp"])
    parser.add_argument("--mib", type=int, default=512, help="of the file")
    parser.add_argument("--times", type=int, default=50, help="copies there and back")
    parser.add_argument(
        "--kills", type=int, default=4, help="parts that die in each direction: 4 are all"
    )
    parser.add_argument("--lease", type=int, default=LEASE_S, help="seconds")
    parser.add_argument("--commit", default="ds", choices=["ds", "mds"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-pnfs", action="store_true", help="has to fail")
    parser.add_argument("--client-deviate", help="of a client that copies within the cluster")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "source"
        chance = random.Random(words.seed)
        with open(source, "wb") as file:
            for _ in range(words.mib):
                file.write(chance.randbytes(CHUNK))
        options = ["--commit", words.commit]
        (folder / "back").mkdir()
        with Cluster(
            folder,
            words.provider,
            lease_s=words.lease,
            options=options,
            unstable_mib=unstable_mib(words.mib),
        ) as cluster:
            turn = shuffled_rounds(cluster.parts, chance)
            died = run(words, cluster, source, folder / "back", turn)
            cluster.end()
        ways = 1 if words.client_deviate else 2
        check_deaths(died, asked=ways * words.kills * words.times)
        print(
            f"{words.times} times {words.mib} MiB there and back, {died} deaths: no octet lost or wrong"
        )


if __name__ == "__main__":
    main()

"""Measures the bundled server under many clients: its memory, and how evenly it serves them.

Prints one table and checks the floors."""

import argparse
import dataclasses
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from ci.jobs import PROJECT

RELEASE = PROJECT / "build" / "release"
SERVER, CLIENTS = RELEASE / "tools" / "steertag-serve", RELEASE / "bench" / "steertag_load"
CONNECTIONS, ACTIVE, SECONDS = 10_000, 1000, 10
# Of the whole resident memory of a server with 10,000 connections. With fewer, all but what it takes alone is in
# proportion.
MOST_KIB = 400 * 1024
# Of the mean of all active connections.
LEAST_SHARE = 0.5
# Beside one for each connection: listeners, files, the C library.
OTHER_DESCRIPTORS = 100
URL = re.compile(r"iwarp://\S+")
# For the end of either program, once it is asked to.
END_LIMIT_S = 30


class CannotMeasure(Exception):
    """Something that is measured did not run; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Result:
    """Resident KiB of the server: alone, with idle connections, after a call on each. And the answered
    calls: of the least and of the most served active connection, and of all."""

    connections: int
    active: int
    seconds: int
    alone_kib: int
    idle_kib: int
    called_kib: int
    least: int
    most: int
    calls: int

    @property
    def mean(self):
        return self.calls / self.active

    def failures(self):
        """What misses a floor, a sentence each."""
        found = []
        for what, kib in (("idle", self.idle_kib), ("that have made a call", self.called_kib)):
            most = self.alone_kib + (MOST_KIB - self.alone_kib) * self.connections / CONNECTIONS
            if kib > most:
                found.append(f"{self.connections} connections {what}: {kib} KiB, limit {most:.0f}")
        if self.least < LEAST_SHARE * self.mean:
            found.append(
                f"the least served of {self.active} connections had {self.least} calls answered, the mean "
                f"is {self.mean:.0f}, floor {LEAST_SHARE:g} of it"
            )
        return found

    def table(self):
        each = [
            (kib - self.alone_kib) / self.connections for kib in (self.idle_kib, self.called_kib)
        ]
        yield f"{'server':<36}{'resident MiB':>14}{'KiB a connection':>18}"
        yield f"{'alone':<36}{self.alone_kib / 1024:>14.1f}{'-':>18}"
        yield f"{f'{self.connections} idle connections':<36}{self.idle_kib / 1024:>14.1f}{each[0]:>18.1f}"
        yield f"{'after a call on each':<36}{self.called_kib / 1024:>14.1f}{each[1]:>18.1f}"
        yield ""
        yield f"{f'{self.active} active for {self.seconds} s':<36}{'calls':>14}{'of the mean':>18}"
        for name, calls in (("least served", self.least), ("most served", self.most)):
            yield f"{name:<36}{calls:>14}{calls / max(self.mean, 1):>18.2f}"
        yield f"{'mean':<36}{self.mean:>14.0f}{'1.00':>18}"


def resident_kib(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])


def allow_descriptors(connections):
    """Raises this process's limit of open files, which its children take over."""
    needed = connections + OTHER_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise CannotMeasure(f"{needed} open files are needed, the limit (ulimit -Hn) is {hard}")
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def line_of(process, what):
    line = process.stdout.readline()
    if not line:
        process.wait(END_LIMIT_S)
        raise CannotMeasure(f"{what} ended with status {process.returncode}")
    return line.strip()


def end(process):
    process.terminate()
    try:
        process.wait(END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()


def measure(connections=CONNECTIONS, active=ACTIVE, seconds=SECONDS):
    """A Result, of a fresh server in this host's loopback network."""
    allow_descriptors(connections)
    # A file, so that many lines of the log do not stop the server.
    with tempfile.TemporaryFile("w+") as log:
        command = [str(SERVER), "--listen", "iwarp://127.0.0.1:0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            url = URL.search(line_of(server, SERVER.name))[0]
            alone = resident_kib(server)
            command = [str(CLIENTS), url, str(connections), str(active), str(seconds)]
            clients = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
            )
            try:
                line_of(clients, CLIENTS.name)
                idle = resident_kib(server)
                clients.stdin.write("\n")
                line_of(clients, CLIENTS.name)
                called = resident_kib(server)
                clients.stdin.write("\n")
                least, most, calls = map(int, line_of(clients, CLIENTS.name).split())
            finally:
                end(clients)
        finally:
            end(server)
    return Result(connections, active, seconds, alone, idle, called, least, most, calls)


def build():
    configure = ["cmake", "--preset", "release", "-DSTEERTAG_BENCH=ON"]
    subprocess.run(configure, cwd=PROJECT, check=True, stdout=sys.stderr)
    command = ["cmake", "--build", "--preset", "release", "--target", CLIENTS.name, SERVER.name]
    subprocess.run(command, cwd=PROJECT, check=True, stdout=sys.stderr)


def main():
    parser = argparse.ArgumentParser(prog="ci/bench-load", description=__doc__)
    parser.add_argument("--connections", type=int, default=CONNECTIONS, metavar="N")
    parser.add_argument("--active", type=int, default=ACTIVE, metavar="N")
    parser.add_argument("--seconds", type=int, default=SECONDS, metavar="S")
    wanted = parser.parse_args()
    build()
    result = measure(wanted.connections, wanted.active, wanted.seconds)
    print("\n".join(result.table()))
    failures = result.failures()
    for each in failures:
        print(f"BELOW    {each}")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CannotMeasure, OSError, subprocess.SubprocessError, ValueError) as error:
        sys.exit(f"bench-load: {error}")

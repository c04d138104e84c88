"""Servers of a run: each a process of its own on the server's processor."""

import contextlib
import dataclasses
import functools
import os
import pathlib
import subprocess

from ci.jobs import PROJECT

PROGRAM = PROJECT / "build" / "release" / "tools" / "steertag-serve"
# What all files of a run take, in MiB: one of 1 GiB, and those that are written.
MEMORY_MIB = 1300
END_LIMIT_S = 30
# The place of utime behind the state of /proc/PID/stat.
UTIME = 11


class CannotMeasure(Exception):
    """Something that is measured did not run; the text is one sentence."""


@functools.cache
def processors():
    """(client's, server's): two of the processors that this process may use, or one for both. The first call counts: later
    the process is bound to its own."""
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[-1]


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a server is: an address, and the command that runs another one in its network namespace."""

    address: str
    enter: tuple = ()


LOOPBACK = Place("127.0.0.1")


class Server:
    """A steertag-serve, over iWARP and TCP unless said otherwise. It does not ask for CRC32C: the client decides."""

    def __init__(self, process, urls):
        self.process = process
        self.urls = urls  # by provider

    def cpu_s(self):
        """Its processor time. /proc/PID/stat counts in ticks of 10 ms, this in nanoseconds."""
        return cpu_s(self.process.pid)

    def user_s(self):
        """Of that, outside of the kernel; in ticks."""
        text = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        # Behind the name of the program, which may have blanks.
        return int(text.rpartition(")")[2].split()[UTIME]) / os.sysconf("SC_CLK_TCK")


def cpu_s(pid):
    """The processor time of a process's threads that are still there."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it has ended
            total += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return total / 1e9


@contextlib.contextmanager
def server(*options, providers=("iwarp", "tcp"), place=LOOPBACK, environment=None):
    """A Server with these options besides, and variables of its environment."""
    if not PROGRAM.exists():
        raise CannotMeasure(f"{PROGRAM.relative_to(PROJECT)} is not built")
    command = [PROGRAM, "--memory", MEMORY_MIB, "--idle-timeout", 0, *options]
    if "roce" not in providers:  # it has a CRC always
        command.append("--no-crc")
    for provider in providers:
        command += ["--listen", f"{provider}://{place.address}:0"]
    process = subprocess.Popen(
        list(map(str, [*place.enter, *command])),
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | (environment or {}),
        preexec_fn=lambda: os.sched_setaffinity(0, {processors()[1]}),
    )
    try:
        urls = {}
        for _ in providers:
            line = process.stdout.readline()
            if not line.startswith("listening at "):
                raise CannotMeasure("our server did not start")
            url = line.split()[-1]
            urls[url.partition(":")[0]] = f"{url}/export"
        yield Server(process, urls)
        if process.poll() is not None:
            raise CannotMeasure(f"our server ended with status {process.returncode}")
    finally:
        process.terminate()
        process.wait(END_LIMIT_S)
        process.stdout.close()

"""Row S8: a data server dies, or its host vanishes, while a client reads. The metadata server takes its part over."""

import contextlib
import os
import time

from ci.jobs.bench_nfs.bench_servers import CannotMeasure
from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_pnfs.striped import EXPORT, IN_FLIGHT, IO_BYTES
from ci.jobs.bench_pnfs.striped_processes import StripedProcesses
from steertag import peer

NAME = "file"
# The throughput is looked at after each such time. So many looks are before the death, and behind the return.
LOOK_S, STEADY = 0.05, 16
STEADY_S = STEADY * LOOK_S
# So many looks together are compared with the throughput before: one alone has few calls.
TOGETHER = 4
RETURN_LIMIT_S = 20
MOST_LOOKS = round(RETURN_LIMIT_S / LOOK_S)
# Of the throughput before: that of TOGETHER looks, and of one alone.
RETURNED, LEAST_LOOK = 0.9, 0.5
# What the victim carries before its death at least, of a part like that of each other data server.
LEAST_PART = 0.5
MOST_TRIES = 3  # of a round whose victim has carried less
BEFORE, GAP, AFTER = "before", "until it is back", "after"
KILLED, VANISHED = FATES = "process killed", "host vanished"
# From a call to its reply at a data server: shorter than by default, so that a row does not take minutes.
CALL_LIMIT_S = 2
# Looks behind the death that are shown.
LOOKS_BEHIND = {KILLED: STEADY, VANISHED: round(CALL_LIMIT_S / LOOK_S) + STEADY}


class IdleVictim(CannotMeasure):
    """The data server that was to die had carried too little: its death shows nothing."""


class Progress:
    """How much of a transfer was done when."""

    def __init__(self, transfer):
        self._transfer = transfer
        self._began = time.monotonic()
        self.marks = [(0.0, 0)]  # (seconds since the start, octets)

    def go_on(self, seconds):
        """Steps for so long, and notes the octets."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self._transfer.step(left):
                raise CannotMeasure(
                    "the file was read before its data server's death had an effect"
                )
        self.marks.append((time.monotonic() - self._began, self._transfer.done_bytes))

    def rate(self, first, last=-1):
        """Octets a second from one mark to another."""
        return self.figures(first, last).rate

    def figures(self, first, last):
        """From one mark to another, as one call."""
        (begin, had), (end, has) = self.marks[first], self.marks[last]
        return Figures(bytes=has - had, calls=1, elapsed_s=end - begin, user_s=0, system_s=0)

    def looks(self, origin, before, behind):
        """{milliseconds from the mark `origin`: Figures} of so many looks before it and behind it, by their ends."""
        end = min(origin + behind + 1, len(self.marks))
        return {
            round((at - origin) * LOOK_S * 1000): self.figures(at - 1, at)
            for at in range(origin - before + 1, end)
        }

    def level_since(self, first, rate):
        """The earliest mark, from `first` on, behind which the throughput stays at this rate. What comes late, all at once,
        does not make up for looks before."""
        last = len(self.marks) - 1
        for at in range(last - 1, first - 1, -1):
            if self.rate(at, at + 1) < LEAST_LOOK * rate:
                return at + 1
            if at + TOGETHER <= last and self.rate(at, at + TOGETHER) < RETURNED * rate:
                return at + 1
        return first


class Victim:
    """The data server that dies: `kill` makes it, and `files` know what it has carried from its address."""

    def __init__(self, files, address, kill):
        self._files, self._address, self.kill = files, address, kill

    def read_bytes(self):
        """What it has carried so far."""
        return sum(
            each["read_bytes"]
            for each in self._files.pnfs["data_servers"]
            if any(path.split()[-1].startswith(f"{self._address}.") for path in each["addresses"])
        )


def through_a_death(progress, victim, data_servers, looks_behind=STEADY):
    """Reads on while `victim` dies: {way: Figures} of the times before, until the throughput is back, and after, and of each
    look around the death. It is back where it stays at what it was for STEADY looks. That is known to a look. Raises IdleVictim without a death if the victim had no part before.
    """
    for _ in range(STEADY):  # for the connections
        progress.go_on(LOOK_S)
    had = victim.read_bytes()
    for _ in range(STEADY):
        progress.go_on(LOOK_S)
    death = len(progress.marks) - 1
    before = progress.figures(death - STEADY, death)
    if victim.read_bytes() - had < LEAST_PART * before.bytes / data_servers:
        raise IdleVictim("a data server had no part in the reading before its death")
    victim.kill()
    for _ in range(MOST_LOOKS):
        progress.go_on(LOOK_S)
        # The death has had an effect in the first look at most: earlier is not known.
        back = max(progress.level_since(death, before.rate), death + 1)
        if back + STEADY < len(progress.marks):
            return {
                BEFORE: before,
                GAP: progress.figures(death, back),
                AFTER: progress.figures(back, -1),
                **progress.looks(death, STEADY, looks_behind),
            }
    raise CannotMeasure(
        f"the throughput is not back {RETURN_LIMIT_S} s after a data server's death"
    )


def measure(hosts, provider, fate, rate_mbit):
    """One death among all ShapedHosts: the {way: Figures} of through_a_death. A host that vanishes is there again
    afterwards."""
    for tries in range(MOST_TRIES):
        try:
            return _death(hosts, provider, fate, rate_mbit)
        except IdleVictim:
            if tries + 1 == MOST_TRIES:
                raise
    return None


def _death(hosts, provider, fate, rate_mbit):
    data_servers = len(hosts.data_servers)
    with contextlib.ExitStack() as stack:
        servers = StripedProcesses(stack, hosts, provider, data_servers)
        # Enough for all that is read until the limit.
        seconds = RETURN_LIMIT_S + 3 * STEADY_S
        size = int(rate_mbit * 1e6 / 8 * (data_servers + 1) * seconds)
        path = servers.export / NAME
        path.touch()
        os.truncate(path, size)
        path.chmod(0o644)
        (url,) = servers.urls.values()
        files = peer.Files(
            url,
            version=4,
            uid=0,
            crc=False,
            io_bytes=IO_BYTES,
            in_flight=IN_FLIGHT * data_servers,
            layouts=True,
            data_server_timeout_s=CALL_LIMIT_S,
        )
        sink = os.memfd_create("read")
        stack.callback(os.close, sink)
        fetch = files.fetch(files.find(f"{EXPORT}/{NAME}"), sink, sparse=False)
        host = hosts.data_servers[-1]
        kill = servers.data_servers[-1].kill
        if fate == VANISHED:
            stack.callback(host.restore)
            kill = host.vanish
        victim = Victim(files, host.place.address, kill)
        return through_a_death(Progress(fetch), victim, data_servers, LOOKS_BEHIND[fate])

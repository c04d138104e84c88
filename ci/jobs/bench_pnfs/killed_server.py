"""Row S8: a data server dies, or its host vanishes, while a client reads. The metadata server takes its part over.

The servers are processes of their own, which share an exported directory.
"""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import time

from ci.jobs.bench_nfs.bench_servers import END_LIMIT_S, PROGRAM, CannotMeasure, processors
from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_pnfs.striped import EXPORT, IN_FLIGHT, IO_BYTES
from steertag import peer

NAME = "file"
# The throughput is looked at after each such time. So many looks are before the death, and behind the return.
LOOK_S, STEADY = 0.05, 16
STEADY_S = STEADY * LOOK_S
RETURN_LIMIT_S = 20
MOST_LOOKS = round(RETURN_LIMIT_S / LOOK_S)
RETURNED = 0.9  # of the throughput before
START_LIMIT_S = 10
BEFORE, GAP, AFTER = "before", "until it is back", "after"
KILLED, VANISHED = "process killed", "host vanished"
# From a call to its reply at a data server: shorter than by default, so that a row does not take minutes.
CALL_LIMIT_S = 2
# Looks behind the death that are shown.
LOOKS_BEHIND = {KILLED: STEADY, VANISHED: round(CALL_LIMIT_S / LOOK_S) + STEADY}


class StripedProcesses:
    """A metadata server and its data servers, over one provider. Each has one of the ShapedLinks. With a
    VanishingHost the last data server is there."""

    def __init__(self, stack, place, provider, data_servers, links, host=None):
        folder = pathlib.Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-pnfs-"))
        )
        self.export = folder / "export"
        self.export.mkdir()
        self._common = ("--export", self.export, "--handle-key", folder / "key", "--no-crc")
        self._common += ("--idle-timeout", 0, "--control", folder / "control")
        self._stack, self._provider, self._log = stack, provider, folder / "log"
        here = place, links
        last = here if host is None else (host.place, host.links)
        recovery = ("--recovery", folder / "recovery")
        self.url, _ = self._start(*here, "--pnfs-mds", data_servers, *recovery)
        self.data_servers = [
            self._start(*(last if number == data_servers else here), "--pnfs-ds", number)[1]
            for number in range(1, 1 + data_servers)
        ]
        self._await(data_servers)

    def _start(self, place, links, *options):
        """(URL, process)"""
        listen = ("--listen", f"{self._provider}://{place.address}:0")
        with open(self._log, "a", encoding="utf-8") as errors:
            process = subprocess.Popen(
                list(map(str, [*place.enter, PROGRAM, *self._common, *listen, *options])),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                preexec_fn=lambda: os.sched_setaffinity(0, {processors()[1]}),
            )
        self._stack.callback(_end, process)
        line = process.stdout.readline()
        if not line.startswith("listening at "):
            why = self._log.read_text(encoding="utf-8")
            raise CannotMeasure(f"a server did not start: {why}")
        url = line.split()[-1]
        links.add(int(url.rpartition(":")[2]))
        return url, process

    def _await(self, data_servers):
        """Until all data servers have joined."""
        end = time.monotonic() + START_LIMIT_S
        while self._log.read_text(encoding="utf-8").count(" is here") < data_servers:
            if time.monotonic() > end:
                raise CannotMeasure("the data servers did not join the metadata server")
            time.sleep(LOOK_S)


def _end(process):
    process.kill()
    process.wait(END_LIMIT_S)
    process.stdout.close()


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
        (begin, had), (end, has) = self.marks[first], self.marks[last]
        return (has - had) / (end - begin)

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


def through_a_death(progress, victim, looks_behind=STEADY):
    """Reads on while `victim` dies: {way: Figures} of the times before, until the throughput is back, and after, and of each
    look around the death. The throughput is back when it is, over STEADY_S, what it was. The gap ends where that time
    begins."""
    for _ in range(2 * STEADY):  # the first half is for the connections
        progress.go_on(LOOK_S)
    death = len(progress.marks) - 1
    before = progress.rate(death - STEADY, death)
    victim.kill()
    for _ in range(MOST_LOOKS):
        progress.go_on(LOOK_S)
        back = len(progress.marks) - 1 - STEADY
        if back > death and progress.rate(back) >= RETURNED * before:
            return {
                BEFORE: progress.figures(death - STEADY, death),
                GAP: progress.figures(death, back),
                AFTER: progress.figures(back, -1),
                **progress.looks(death, STEADY, looks_behind),
            }
    raise CannotMeasure(
        f"the throughput is not back {RETURN_LIMIT_S} s after a data server's death"
    )


def measure(place, links, provider, data_servers, rate_mbit, host=None):
    """One death: the {way: Figures} of through_a_death. With a VanishingHost that one vanishes, and is there again
    afterwards."""
    fate = KILLED if host is None else VANISHED
    with contextlib.ExitStack() as stack:
        if host is not None:
            stack.callback(host.restore)
        servers = StripedProcesses(stack, place, provider, data_servers, links, host)
        # Enough for all that is read until the limit.
        seconds = RETURN_LIMIT_S + 3 * STEADY_S
        size = int(rate_mbit * 1e6 / 8 * (data_servers + 1) * seconds)
        path = servers.export / NAME
        path.touch()
        os.truncate(path, size)
        path.chmod(0o644)
        files = peer.Files(
            servers.url + EXPORT,
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
        victim = servers.data_servers[-1] if host is None else host
        return through_a_death(Progress(fetch), victim, LOOKS_BEHIND[fate])

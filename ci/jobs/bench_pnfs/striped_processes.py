"""A metadata server and its data servers, each a process of its own on a host of its own. They share a directory."""

import os
import pathlib
import re
import subprocess
import tempfile
import time

from ci.jobs.bench_nfs.bench_servers import END_LIMIT_S, PROGRAM, CannotMeasure, cpu_s, processors
from ci.jobs.bench_pnfs.striped import EXPORT

# A file system in memory, so that no COMMIT waits for a disk.
MEMORY = "/dev/shm"
START_LIMIT_S, LOOK_S = 10, 0.05
# What the metadata server and a data server write of each other when it has joined.
JOINED = re.compile(r"(data server \d+|the metadata server) is here")


class StripedProcesses:
    """Over one provider, on the ShapedHosts. They end with the ExitStack. Further options are the metadata server's."""

    def __init__(self, stack, hosts, provider, data_servers, *options):
        folder = pathlib.Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-pnfs-", dir=MEMORY))
        )
        self.export = folder / "export"
        self.export.mkdir()
        self._common = ("--export", self.export, "--no-root-squash", "--handle-key", folder / "key")
        self._common += ("--no-crc", "--idle-timeout", 0, "--control", folder / "control")
        self._stack, self._provider, self._log = stack, provider, folder / "log"
        recovery = ("--recovery", folder / "recovery")
        url, main = self._start(
            hosts.metadata_server, "--pnfs-mds", data_servers, *recovery, *options
        )
        self.urls = {provider: url + EXPORT}
        self.data_servers = [
            self._start(host, "--pnfs-ds", number)[1]
            for number, host in enumerate(hosts.data_servers[:data_servers], 1)
        ]
        self._all = [main, *self.data_servers]
        self._await(data_servers)

    def cpu_s(self):
        """The processor time of all."""
        return sum(cpu_s(each.pid) for each in self._all)

    def _start(self, host, *options):
        """(URL, process)"""
        listen = ("--listen", f"{self._provider}://{host.place.address}:0")
        with open(self._log, "a", encoding="utf-8") as errors:
            process = subprocess.Popen(
                list(map(str, [*host.place.enter, PROGRAM, *self._common, *listen, *options])),
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
        return line.split()[-1], process

    def _await(self, data_servers):
        """Until all data servers have joined."""
        end = time.monotonic() + START_LIMIT_S
        while len(JOINED.findall(self._log.read_text(encoding="utf-8"))) < 2 * data_servers:
            if time.monotonic() > end:
                raise CannotMeasure("the data servers did not join the metadata server")
            time.sleep(LOOK_S)


def _end(process):
    process.kill()
    process.wait(END_LIMIT_S)
    process.stdout.close()

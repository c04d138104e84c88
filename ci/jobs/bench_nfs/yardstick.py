"""NFS-Ganesha and libnfs over TCP, beside our own: what others reach on this machine in the same minutes."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess

from ci.jobs import PROJECT
from ci.jobs.bench_nfs.bench_clients import WAYS, connect, data_cell
from ci.jobs.bench_nfs.bench_servers import END_LIMIT_S, CannotMeasure, cpu_s, processors
from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_nfs.rounds import Cell, measure

PEERS = "Ganesha and libnfs over TCP"
SOURCE = PROJECT / "bench" / "libnfs_read.cpp"
KINDS = (("read", 262144, 8), ("read", 1048576, 8))
# The library folders of the packages, below their root.
LIBRARIES = (
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/x86_64-linux-gnu/ganesha",
    "usr/lib/x86_64-linux-gnu/libnfsidmap",
    "usr/lib/ganesha",
)
# Between looks at whether Ganesha listens, and how many of them.
LOOK_S = 0.05
MOST_LOOKS = 600
RUN_LIMIT_S = 60
IDMAP = """\
[General]
Domain = localdomain
[Translation]
Method = nsswitch
"""
# NFSv4 only: for NFSv3 it wants a port mapper of the machine.
CONFIGURATION = """\
NFS_CORE_PARAM {{
    NFS_Port = {port};
    NFS_Protocols = 4;
    Enable_NLM = false;
    Enable_RQUOTA = false;
    Enable_UDP = false;
    Bind_addr = 127.0.0.1;
    Plugins_Dir = {plugins};
}}
NFSv4 {{
    Graceless = true;
    Only_Numeric_Owners = true;
    RecoveryBackend = fs;
    RecoveryRoot = {folder}/recovery;
    IdmapConf = {folder}/idmapd.conf;
}}
EXPORT_DEFAULTS {{
    Access_Type = RO;
    Squash = No_Root_Squash;
    SecType = sys, none;
    Protocols = 4;
    Transports = TCP;
}}
EXPORT {{
    Export_Id = 1;
    Path = {folder}/export;
    Pseudo = /export;
    FSAL {{ Name = VFS; }}
}}
"""


class Packages:
    """Where Ganesha and libnfs are: installed, or below a folder into which their packages are unpacked."""

    def __init__(self, root):
        self._root = root

    def path(self, name):
        return self._root / name

    def check(self):
        """Raises CannotMeasure with what is missing."""
        needed = {
            "nfs-ganesha": "usr/bin/ganesha.nfsd",
            "nfs-ganesha-vfs": "usr/lib/x86_64-linux-gnu/ganesha/libfsalvfs.so",
            "libnfs-dev": "usr/include/nfsc/libnfs.h",
        }
        missing = [package for package, name in needed.items() if not self.path(name).exists()]
        if missing:
            raise CannotMeasure(
                f"the Debian packages {', '.join(missing)} are not there: install them, or unpack them and what "
                "they need for --packages"
            )

    def environment(self):
        folders = ":".join(str(self.path(name)) for name in LIBRARIES)
        return {**os.environ, "LD_LIBRARY_PATH": folders}

    def reader(self, folder):
        """The path of the compiled reader."""
        program = folder / "libnfs_read"
        library = self.path("usr/lib/x86_64-linux-gnu")
        command = ["c++", "-O2", "-std=c++20", "-I", self.path("usr/include"), SOURCE]
        command += ["-o", program, "-L", library, "-l:libnfs.so.13"]
        subprocess.run(list(map(str, command)), check=True, timeout=RUN_LIMIT_S)
        return program


@contextlib.contextmanager
def ganesha(packages, folder, content):
    """(process, port) of a Ganesha that exports one file with these octets."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("export", "recovery"):
        (folder / name).mkdir(parents=True)
    content(folder / "export" / "file")
    (folder / "idmapd.conf").write_text(IDMAP, encoding="ascii")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    plugins = packages.path("usr/lib/x86_64-linux-gnu/ganesha")
    text = CONFIGURATION.format(port=port, plugins=plugins, folder=folder)
    (folder / "ganesha.conf").write_text(text, encoding="utf-8")
    command = [packages.path("usr/bin/ganesha.nfsd"), "-F", "-f", folder / "ganesha.conf"]
    command += ["-L", folder / "log", "-N", "WARN", "-p", folder / "pid"]
    process = subprocess.Popen(
        list(map(str, command)),
        env=packages.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {processors()[1]}),
    )
    try:
        _wait_until_it_listens(process, port, folder)
        yield process, port
    finally:
        process.terminate()
        try:
            process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder / "export", ignore_errors=True)


def _wait_until_it_listens(process, port, folder):
    for _ in range(MOST_LOOKS):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_S)
            raise CannotMeasure(f"Ganesha ended with status {process.returncode}: {folder}/log")
    raise CannotMeasure(f"Ganesha did not listen within {MOST_LOOKS * LOOK_S:.0f} s: {folder}/log")


def beside_others(main, path, packages, folder, rounds, seconds):
    """The row of the yardstick: READ of the same file by Ganesha with libnfs, and by ours."""
    packages.check()
    folder.mkdir(parents=True, exist_ok=True)
    reader = packages.reader(folder)
    with contextlib.ExitStack() as stack:
        process, port = stack.enter_context(
            ganesha(packages, folder / "ganesha", _write(main, path))
        )
        url = f"nfs://127.0.0.1/export/file?version=4&nfsport={port}"
        cells = []
        for kind in KINDS:
            _, size, calls = kind
            command = [str(reader), url, str(size), str(calls)]
            cells.append(Cell(PEERS, kind, _run(command, packages.environment(), process.pid)))
        for way in WAYS:
            files = connect(main, way)
            stack.callback(files.end)
            bench = files.bench(files.find(path))
            cells += [data_cell(main, way, bench, *kind) for kind in KINDS]
        return measure(cells, rounds, seconds)


def _write(main, path):
    """Writes the file that is read from us, so that Ganesha has it in the page cache."""

    def content(target):
        files = connect(main, "TCP")
        with open(target, "wb") as file:
            transfer = files.fetch(files.find(path), file.fileno())
            while not transfer.step(1.0):
                pass
        files.end()

    return content


def _run(command, environment, pid):
    def run(seconds):
        before = cpu_s(pid)
        done = subprocess.run(
            [*command, str(seconds)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=RUN_LIMIT_S,
        )
        if done.returncode != 0:
            raise CannotMeasure(done.stderr.strip() or f"libnfs_read ended with {done.returncode}")
        octets, calls, elapsed, user, system = done.stdout.split()
        return Figures(
            int(octets),
            int(calls),
            float(elapsed),
            float(user),
            float(system),
            max(cpu_s(pid) - before, 0.0),
        )

    return run


def installed(root):
    """The Packages of an option."""
    return Packages(pathlib.Path("/") if root is None else root.resolve())

"""Network namespaces of a run, joined by veth pairs.

All are in a user namespace of one process, which needs no right over the machine, and end with their processes.
"""

import contextlib
import os
import subprocess
import sys

from ci.jobs import PROJECT
from ci.jobs.bench_nfs.bench_servers import END_LIMIT_S, CannotMeasure, Place, processors

COMMAND_LIMIT_S = 10


def output_inside(module, arguments, limit_s):
    """What `python -m module` prints in namespaces of its own. Raises CannotMeasure, also where these are refused."""
    command = ["unshare", "--user", "--map-root-user", "--net"]
    command += [sys.executable, "-B", "-m", module, *map(str, arguments)]
    both = set(processors())  # this process is bound to the first
    try:
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, both),
        )
    except FileNotFoundError:
        raise CannotMeasure("there is no unshare") from None
    try:
        text, errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise CannotMeasure(f"it took longer than {limit_s:.0f} s") from None
    finally:
        process.terminate()
        process.wait(END_LIMIT_S)
    if process.returncode != 0:
        why = errors.strip().rpartition("\n")[2]
        raise CannotMeasure(f"no two network namespaces ({why or process.returncode})")
    return text


@contextlib.contextmanager
def namespace():
    """The id of a process in a network namespace, which lasts as long as the context."""
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo made; exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if not process.stdout.readline():
            raise CannotMeasure("unshare --net failed")
        yield process.pid
    finally:
        process.stdin.close()
        process.wait(END_LIMIT_S)
        process.stdout.close()


def join(pid, name, number, options=(), up=()):
    """Joins this namespace and that of a process by a veth pair; the Place at its other end.

    Both ends have the name. The options are of `ip link add` for both, `up` is of `ip link set`.
    """
    enter = ("nsenter", f"--target={pid}", "--net")
    pair = ["ip", "link", "add", name, *options, "type", "veth", "peer", name]
    run(*pair, *options, "netns", pid)
    place = add_subnet(enter, name, number)
    for prefix in ((), enter):
        run(*prefix, "ip", "link", "set", name, *up, "up")
    return place


def add_subnet(enter, name, number):
    """Gives both ends of a pair one more address; the Place at the end that `enter` enters."""
    addresses = [f"10.0.{number}.{end}" for end in (1, 2)]
    for address, prefix in zip(addresses, ((), enter)):
        run(*prefix, "ip", "address", "add", f"{address}/24", "dev", name)
    return Place(addresses[1], enter)


def run(*command):
    """Raises CannotMeasure with what it printed if it fails."""
    words = list(map(str, command))
    done = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_LIMIT_S)
    if done.returncode != 0:
        raise CannotMeasure(f"{' '.join(words)}: {done.stderr.strip()}")

"""Builds and runs the benchmarks beside iperf3 on loopback, prints one table, checks the floors."""

import dataclasses
import json
import re
import socket
import subprocess
import sys

from ci.jobs import PROJECT

PROGRAM = PROJECT / "build" / "release" / "bench" / "steertag_bench"
BENCH_LIMIT_S = 600
IPERF_SECONDS = 5
# iperf3 itself ends after IPERF_SECONDS; this is for one that does not.
IPERF_LIMIT_S = 30
# Between tries to connect while the iperf3 server starts; it has no way to say that it listens.
CONNECT_TRIES = 100
CONNECT_TRY_S = 0.05


class CannotMeasure(Exception):
    """Something that is measured did not run; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Floor:
    """What a benchmark must reach: `at_least` of its counter, or of iperf3's rate when relative."""

    subject: str
    name: re.Pattern
    counter: str
    at_least: float
    relative: bool = False


FLOORS = (
    Floor("decode + rules, messages/s", re.compile(r"judge_\w+"), "items_per_second", 2e6),
    Floor(
        "RDMA Write of 1 MiB, octets/s",
        re.compile(r"rdma_write/1048576\b.*"),
        "bytes_per_second",
        0.5,
        relative=True,
    ),
    Floor(
        "RDMA Read of 1 MiB, octets/s",
        re.compile(r"rdma_read/1048576\b.*"),
        "bytes_per_second",
        0.5,
        relative=True,
    ),
)
# Every benchmark that counts allocations must have none per message: the harness's own few vanish
# in the average.
ALLOCATIONS = "allocs/msg"
MOST_ALLOCATIONS = 0.001


def build():
    subprocess.run(
        ["cmake", "--preset", "release", "-DSTEERTAG_BENCH=ON"],
        cwd=PROJECT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(
        ["cmake", "--build", "--preset", "release", "--target", "steertag_bench"],
        cwd=PROJECT,
        check=True,
        stdout=sys.stderr,
    )


def benchmarks():
    """The rows of Google Benchmark's JSON, by name."""
    command = [str(PROGRAM), "--benchmark_format=json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BENCH_LIMIT_S)
    if done.returncode != 0:
        raise CannotMeasure(f"{PROGRAM.name} ended with {done.returncode}: {done.stderr.strip()}")
    rows = json.loads(done.stdout)["benchmarks"]
    for row in rows:
        if row.get("error_occurred"):
            raise CannotMeasure(f"{row['name']}: {row['error_message']}")
    return {row["name"]: row for row in rows}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def iperf3():
    """Octets per second of one iperf3 stream over loopback."""
    port = str(free_port())
    server = subprocess.Popen(
        ["iperf3", "--server", "--one-off", "--bind", "127.0.0.1", "--port", port],
        stdout=subprocess.DEVNULL,
    )
    client = ["iperf3", "--client", "127.0.0.1", "--port", port, "--time", str(IPERF_SECONDS)]
    try:
        for _ in range(CONNECT_TRIES):
            done = subprocess.run(
                [*client, "--json"], capture_output=True, text=True, timeout=IPERF_LIMIT_S
            )
            answer = json.loads(done.stdout)
            if "refused" not in answer.get("error", ""):
                break
            try:
                server.wait(CONNECT_TRY_S)
            except subprocess.TimeoutExpired:
                continue
            raise CannotMeasure("the iperf3 server ended at once")
        if "error" in answer:
            raise CannotMeasure(f"iperf3: {answer['error']}")
        return answer["end"]["sum_received"]["bits_per_second"] / 8
    finally:
        server.terminate()
        server.wait(IPERF_LIMIT_S)


def check(floor, rows, reference):
    """(measured, needed) of the slowest benchmark that the floor is about."""
    found = [row for name, row in rows.items() if floor.name.fullmatch(name)]
    if not found:
        raise CannotMeasure(f"no benchmark is named {floor.name.pattern}: {floor.subject}")
    measured = min(row[floor.counter] for row in found)
    return measured, floor.at_least * (reference if floor.relative else 1)


def main():
    build()
    before = iperf3()
    rows = benchmarks()
    # The better of two, around the benchmarks: a machine that got busy must not lower the floor.
    reference = max(before, iperf3())
    good = True

    width = max(len(name) for name in rows)
    print(f"{'benchmark':<{width}}  {'per second':>12}  {'MB/s':>9}  {'allocations':>11}")
    for name, row in rows.items():
        items = f"{row['items_per_second']:.3g}" if "items_per_second" in row else "-"
        rate = f"{row['bytes_per_second'] / 1e6:.0f}" if "bytes_per_second" in row else "-"
        allocations = f"{row[ALLOCATIONS]:.3g}" if ALLOCATIONS in row else "-"
        print(f"{name:<{width}}  {items:>12}  {rate:>9}  {allocations:>11}")
        if row.get(ALLOCATIONS, 0) > MOST_ALLOCATIONS:
            print(f"{name}: allocates in the steady state")
            good = False
    print(f"{'iperf3, one stream':<{width}}  {'-':>12}  {reference / 1e6:>9.0f}  {'-':>11}\n")

    for floor in FLOORS:
        try:
            measured, needed = check(floor, rows, reference)
        except CannotMeasure as error:
            print(f"MISSING  {error}")
            good = False
            continue
        word = "ok" if measured >= needed else "BELOW"
        print(f"{word:<8} {floor.subject}: {measured:.3g}, floor {needed:.3g}")
        good = good and measured >= needed
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CannotMeasure, OSError, subprocess.SubprocessError, ValueError) as error:
        sys.exit(f"bench: {error}")

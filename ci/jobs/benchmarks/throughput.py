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
# The largest datagram over IPv4, which is also the most that one call of the roce provider sends.
UDP_OCTETS = 65507
# Between tries to connect while the iperf3 server starts; it has no way to say that it listens.
CONNECT_TRIES = 100
CONNECT_TRY_S = 0.05


class CannotMeasure(Exception):
    """Something that is measured did not run; the text is one sentence."""


TCP, UDP, SLOWER = (
    "iperf3, one TCP stream",
    f"iperf3, UDP of {UDP_OCTETS} octets",
    "the slower of TCP and UDP",
)


@dataclasses.dataclass(frozen=True)
class Floor:
    """What a benchmark must reach: `at_least` of its counter, or that share of `beside`. That is a
    rate of iperf3, or the same counter of another benchmark."""

    subject: str
    name: re.Pattern
    counter: str
    at_least: float
    beside: str = ""


def transfer(provider, what, beside):
    """The floor of 1 MiB, for every choice of CRC."""
    name = re.compile(rf"rdma_{what.lower()}/{provider}/1048576\b.*")
    return Floor(
        f"RDMA {what} of 1 MiB over {provider}, octets/s", name, "bytes_per_second", 0.5, beside
    )


# RoCE has a CRC always, and iWARP is measured with it too.
ROUND_TRIPS = "ping_pong/{}/64/crc:1/real_time"
MOST_ROUND_TRIP = 1.3
FLOORS = (
    Floor("decode + rules, messages/s", re.compile(r"judge_\w+"), "items_per_second", 2e6),
    transfer("iwarp", "Write", TCP),
    transfer("iwarp", "Read", TCP),
    transfer("roce", "Write", SLOWER),
    transfer("roce", "Read", SLOWER),
    Floor(
        "round trips of 64 octets over roce, a second",
        re.compile(re.escape(ROUND_TRIPS.format("roce"))),
        "items_per_second",
        1 / MOST_ROUND_TRIP,
        ROUND_TRIPS.format("iwarp"),
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


def iperf3(*options):
    """Octets per second that one iperf3 stream over loopback received."""
    port = str(free_port())
    server = subprocess.Popen(
        ["iperf3", "--server", "--one-off", "--bind", "127.0.0.1", "--port", port],
        stdout=subprocess.DEVNULL,
    )
    client = ["iperf3", "--json", "--client", "127.0.0.1", "--port", port, *options]
    try:
        for _ in range(CONNECT_TRIES):
            done = subprocess.run(
                [*client, "--time", str(IPERF_SECONDS)],
                capture_output=True,
                text=True,
                timeout=IPERF_LIMIT_S,
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


def iperf3_rates():
    return {
        TCP: iperf3(),
        UDP: iperf3("--udp", "--bitrate", "0", "--length", str(UDP_OCTETS)),
    }


def references(before, after):
    """The better of two, around the benchmarks: a machine that got busy must not lower a floor."""
    rates = {name: max(rate, after[name]) for name, rate in before.items()}
    return rates | {SLOWER: min(rates.values())}


@dataclasses.dataclass(frozen=True)
class Result:
    """The slowest benchmark that a floor is about; `reference` is 1 for a floor of its own."""

    floor: Floor
    measured: float
    reference: float

    @property
    def good(self):
        return self.measured >= self.floor.at_least * self.reference

    def __str__(self):
        word = "ok" if self.good else "BELOW"
        needed = self.floor.at_least * self.reference
        said = f"{word:<8} {self.floor.subject}: {self.measured:.3g}, floor {needed:.3g}"
        if not self.floor.beside:
            return said
        return f"{said}; {self.measured / self.reference:.2f} of {self.floor.beside}"


def check(floor, rows, rates):
    """The Result of a floor."""
    found = [row for name, row in rows.items() if floor.name.fullmatch(name)]
    if not found:
        raise CannotMeasure(f"no benchmark is named {floor.name.pattern}: {floor.subject}")
    if floor.beside in rows:
        reference = rows[floor.beside][floor.counter]
    elif not floor.beside or floor.beside in rates:
        reference = rates.get(floor.beside, 1)
    else:
        raise CannotMeasure(f"no benchmark is named {floor.beside}: {floor.subject}")
    return Result(floor, min(row[floor.counter] for row in found), reference)


def main():
    build()
    before = iperf3_rates()
    rows = benchmarks()
    rates = references(before, iperf3_rates())
    good = True

    width = max(len(name) for name in [*rows, *rates])
    print(f"{'benchmark':<{width}}  {'per second':>12}  {'MB/s':>9}  {'allocations':>11}")
    for name, row in rows.items():
        items = f"{row['items_per_second']:.3g}" if "items_per_second" in row else "-"
        rate = f"{row['bytes_per_second'] / 1e6:.0f}" if "bytes_per_second" in row else "-"
        allocations = f"{row[ALLOCATIONS]:.3g}" if ALLOCATIONS in row else "-"
        print(f"{name:<{width}}  {items:>12}  {rate:>9}  {allocations:>11}")
        if row.get(ALLOCATIONS, 0) > MOST_ALLOCATIONS:
            print(f"{name}: allocates in the steady state")
            good = False
    for name in (TCP, UDP):
        print(f"{name:<{width}}  {'-':>12}  {rates[name] / 1e6:>9.0f}  {'-':>11}")
    print()

    for floor in FLOORS:
        try:
            result = check(floor, rows, rates)
        except CannotMeasure as error:
            print(f"MISSING  {error}")
            good = False
            continue
        print(result)
        good = good and result.good
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CannotMeasure, OSError, subprocess.SubprocessError, ValueError) as error:
        sys.exit(f"bench: {error}")

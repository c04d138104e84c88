"""Makes captures of 200,000 packets out of real ones, and times `steertag grade` and the plugin beside tshark.

Prints one table of ratios and checks the bounds that docs/guide/captures.md promises."""

import argparse
import dataclasses
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile

from ci.jobs import PROJECT

import capture_files
import tshark

CAPTURES = PROJECT / "fixtures" / "captures"

SHAPES = {
    "iWARP": "linux-6.1-siw-v4.1.pcapng",
    "RoCEv2": "linux-6.1-rxe-v4.1.pcapng",
}
PACKETS = 200_000
# Runs of each command, by turns, so that both meet the same machine. Other work moves a short run more. The first
# number is enough if the bound is kept; the second one decides.
WHOLE_ROUNDS = (1, 3)
SUMMARY_ROUNDS = (5, 15)
# Of the slowest command (tshark -V) on a loaded machine.
RUN_LIMIT_S = 600
MOST_SAID = 500  # octets shown of a command's complaint
# The promised bounds: times as fast as tshark -V, resident octets, the share that the plugin adds.
LEAST_SPEEDUP = 20
MOST_RESIDENT = 200 << 20
MOST_PLUGIN_COST = 0.25

ETHERNET_IPV4 = b"\x08\x00"


class CannotMeasure(Exception):
    """Something that is measured did not run; the text is one sentence."""


# -- the captures --------------------------------------------------------------------------------


def as_if_elsewhere(octets, number):
    """The frame between two other hosts: the second and third octet of both IPv4 addresses change."""
    if octets[12:14] != ETHERNET_IPV4:
        return octets
    octets = bytearray(octets)
    for at in (14 + 12 + 1, 14 + 16 + 1):
        octets[at : at + 2] = struct.pack(">H", number)
    return bytes(octets)


def repeat(path, target):
    """Writes the capture again and again, each time between other hosts and later, until it has PACKETS."""
    link_type, frames = capture_files.read(path.read_bytes())
    if not frames:
        raise CannotMeasure(f"{path}: no packets in it")
    span = frames[-1].time_ns - frames[0].time_ns + 1
    writer = capture_files.Pcapng()
    with target.open("wb") as out:
        out.write(writer.section() + writer.interface(link_type))
        for count in range(PACKETS):
            number, place = divmod(count, len(frames))
            frame = frames[place].later(number * span)
            out.write(writer.packet(frame.with_data(as_if_elsewhere(frame.data, number))))


# -- the commands --------------------------------------------------------------------------------


@dataclasses.dataclass
class Used:
    seconds: float  # of processor time
    resident: int  # octets at most


def run(command, environment=None, must_say=None):
    """What the command used. Its output goes nowhere; `must_say` has to be in it."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            ["timeout", str(RUN_LIMIT_S), *command],
            stdout=output if must_say else subprocess.DEVNULL,
            stderr=errors,
            env=environment,
            cwd="/",
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        said = errors.read()[-MOST_SAID:].decode(errors="replace")
        # steertag grade says with 1 that it found something.
        if process.returncode not in (0, 1):
            raise CannotMeasure(f"{' '.join(command)}: status {process.returncode}: {said}")
        if must_say and must_say.encode() not in output.read():
            raise CannotMeasure(f"{' '.join(command)}: its output has no {must_say!r}: {said}")
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def grade(path, home):
    """As users run it: Python keeps what it has compiled, also where a checkout forbids it to."""
    environment = {**os.environ, "STEERTAG_BUILD": str(tshark.build())}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(home / "pycache")
    command = [str(PROJECT / "build/venv/bin/steertag"), "grade", "--quiet", str(path)]
    return run(command, environment, f": {PACKETS} packets")


def show(programs, path, *options):
    """tshark, with or without the plugin."""
    return run(programs.command("tshark", "-n", "-r", path, *options))


# -- the table -----------------------------------------------------------------------------------


def by_turns(rounds, first, second, kept):
    """[(Used by the first, Used by the second)]; which of them goes first changes each time. Ends after some
    number of `rounds` if `kept`, asked about the pairs so far, says that the bound is kept."""
    pairs = []
    for enough in rounds:
        for number in range(len(pairs), enough):
            if number % 2 == 0:
                pairs.append((first(), second()))
            else:
                other = second()
                pairs.append((first(), other))
        if kept(pairs):
            break
    return pairs


def ratio(pairs, of=min):
    """That of the least times of both, or whatever else `of` makes of them, and the range of the pairs' own."""
    ratios = [first.seconds / second.seconds for first, second in pairs]
    first, second = [of(used.seconds for used in column) for column in zip(*pairs)]
    return first / second, min(ratios), max(ratios)


def plugin_cost(pairs):
    """The share that the plugin adds. A machine that changes its pace gives one side a lucky run or
    an unlucky half. The cost of the plugin shows in the least times and in the medians."""
    return min(ratio(pairs)[0], ratio(pairs, statistics.median)[0]) - 1


def measure(shape, path, home, problems, thorough):
    def unless_thorough(kept):
        return (lambda pairs: False) if thorough else kept

    plain = tshark.Wireshark(home / "plain", with_plugin=False)
    extended = tshark.Wireshark(home / "extended")
    grade(path, home)  # compiles
    pairs = by_turns(
        WHOLE_ROUNDS,
        lambda: show(plain, path, "-V"),
        lambda: grade(path, home),
        unless_thorough(lambda pairs: ratio(pairs)[0] >= LEAST_SPEEDUP),
    )
    best, least, most = ratio(pairs)
    resident = max(used.resident for _, used in pairs)
    print(
        f"{shape:8} grade is {best:6.1f} times as fast as tshark -V   ({least:.1f} to {most:.1f})"
    )
    print(f"{shape:8} grade holds {resident / (1 << 20):.0f} MiB at most")
    if best < LEAST_SPEEDUP:
        problems.append(f"{shape}: {best:.1f} times as fast, not {LEAST_SPEEDUP}")
    if resident > MOST_RESIDENT:
        problems.append(f"{shape}: {resident >> 20} MiB")

    pairs = by_turns(
        SUMMARY_ROUNDS,
        lambda: show(extended, path),
        lambda: show(plain, path),
        unless_thorough(lambda pairs: plugin_cost(pairs) < MOST_PLUGIN_COST),
    )
    best, least, most = ratio(pairs)
    median, _, _ = ratio(pairs, statistics.median)
    print(
        f"{shape:8} the plugin costs tshark's summary {best - 1:+6.1%} (least times), {median - 1:+.1%} "
        f"(medians)   ({least - 1:+.1%} to {most - 1:+.1%}, {len(pairs)} rounds)"
    )
    if plugin_cost(pairs) >= MOST_PLUGIN_COST:
        problems.append(f"{shape}: the plugin costs {plugin_cost(pairs):.1%}")


def main(arguments):
    parser = argparse.ArgumentParser(prog="ci/bench-captures", description=__doc__)
    parser.add_argument(
        "--thorough", action="store_true", help="all rounds, if a few are enough or not"
    )
    thorough = parser.parse_args(arguments).thorough
    if not list(tshark.plugins().glob("*/epan/steertag.so")):
        raise CannotMeasure(f"{tshark.plugins()}: no plugin; build it with -DSTEERTAG_DISSECTOR=ON")
    problems = []
    for shape, name in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            home.chmod(0o755)
            for empty in ("plain", "extended"):
                (home / empty).mkdir()
            repeat(CAPTURES / name, home / name)
            measure(shape, home / name, home, problems, thorough)
    for problem in problems:
        print(f"bench-captures: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (CannotMeasure, OSError) as error:
        print(f"bench-captures: {error}", file=sys.stderr)
        sys.exit(2)

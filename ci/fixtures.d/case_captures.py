"""The captures that cases leave: of each deviation what one case that catches it saw, and some of cases that
pass."""

import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import deviation_table
import live_judgements
from fixture_places import CONFORMING, DEVIATIONS, PROJECT, PYTHON, CannotMake

sys.path.insert(0, str(PROJECT / "ci"))

from blame import blames  # noqa: E402

SUITES = {"server": ("suites/server", "--deviate"), "client": ("suites/client", "--client-deviate")}
# As in ci/deviations.py: what is never answered may not wait long.
MORE = {"server": (), "client": ("--client-timeout", "6")}
# One case, which may hang until the suite gives it up.
CASE_LIMIT_S = 120
# They are kept in the repository, hundreds of them. What never ends is kept to here.
MOST_BYTES = 150_000
# Cases whose captures show what is right: every form of message with NFS version 3 and 4.1, and callbacks in
# either suite.
PASSING = {
    "server": (
        "server.layout.mixed-forms",
        "server.nfs4.binding.chunks-and-long-reply",
        "server.reverse.recall",
    ),
    "client": ("client.backchannel.recall-slot.zero",),
}


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A capture to make; without a deviation and its requirement the case has to pass."""

    role: str
    case: str
    path: pathlib.Path
    deviation: str = ""
    requirement: str = ""
    transfers: int = 1


def conforming():
    """Those of cases that pass."""
    for role, cases in PASSING.items():
        for case in cases:
            yield Wanted(role, case, CONFORMING / f"{case}.pcapng")


def deviating(table, names):
    """What the table says of the deviations with these names, or of all."""
    missing = set(names) - {name for _, name in table.pairs()}
    if missing:
        raise CannotMake(f"{deviation_table.TABLE.name} has no {', '.join(sorted(missing))}")
    known = {role: deviation_table.requirements(role) for role in table.cases}
    for role, name in table.pairs():
        if names and name not in names:
            continue
        if name not in known[role]:
            raise CannotMake(f"the {role} has no deviation {name}")
        path, transfers = deviation_table.capture(role, name), table.transfers.get(name, 1)
        yield Wanted(role, table.cases[role][name], path, name, known[role][name], transfers)


def make(chosen, jobs):
    """Makes the captures, so many cases at a time, and keeps what was judged live beside them; returns a
    sentence for each that could not be made."""
    problems, made = [], collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for each, running in [(each, pool.submit(_make_one, each)) for each in chosen]:
            try:
                made[each.path.parent][each.path.stem] = running.result()
            except CannotMake as problem:
                problems.append(f"{each.role} {each.deviation}: {problem}")
    for folder, judgements in made.items():
        live_judgements.keep(folder, judgements)
    return problems


def _make_one(each):
    """Makes a capture; returns what was judged live."""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch)
        case = run_case(each, report)
        shown = blames(case, each.requirement) if each.deviation else case["verdict"] == "pass"
        if not shown:
            raise CannotMake(f"{each.case} gave {case['verdict']}: {case['reason']}")
        if not case["capture"]:
            raise CannotMake(f"{each.case} left no capture")
        each.path.parent.mkdir(parents=True, exist_ok=True)
        whole = (report / case["capture"]).read_bytes()
        each.path.write_bytes(head(whole))
    cut = {"cut": True} if len(head(whole)) < len(whole) else {}
    return {"id": case["id"], **cut, "judged": case["judged"]}


def head(data, most_bytes=MOST_BYTES):
    """The blocks of a little-endian pcapng that end within the limit."""
    end = 0
    while end < len(data):
        (length,) = struct.unpack_from("<I", data, end + 4)
        if end + length > most_bytes:
            break
        end += length
    return data[:end]


def run_case(each, report):
    """The row of report.json for the case, run against the peer with the deviation."""
    suite, option = SUITES[each.role]
    command = [PYTHON, "-m", "pytest", suite, "-q", "--case", each.case, "--report", report]
    command += [*MORE[each.role], *([option, each.deviation] if each.deviation else [])]
    environment = dict(os.environ)
    if each.role == "client":
        command += ["-p", "small_source"]
        folders = [pathlib.Path(__file__).parent, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(map(str, folders))
        environment["STEERTAG_SOURCE_TRANSFERS"] = str(each.transfers)
    try:
        done = subprocess.run(
            command,
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=CASE_LIMIT_S,
        )
        cases = json.loads((report / "report.json").read_text())["cases"]
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise CannotMake(f"{each.case} left no report: {error}") from None
    if len(cases) != 1:
        tail = done.stdout.strip().splitlines()[-1:]
        raise CannotMake(f"{each.case} is no case that runs: {' '.join(tail)}")
    return cases[0]

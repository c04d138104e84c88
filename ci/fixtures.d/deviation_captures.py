"""The captures of deviations: each is what one case that catches the deviation saw."""

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
from fixture_places import DEVIATIONS, PROJECT, PYTHON, CannotMake

sys.path.insert(0, str(PROJECT / "ci"))

from blame import blames  # noqa: E402

SUITES = {"server": ("suites/server", "--deviate"), "client": ("suites/client", "--client-deviate")}
# As in ci/deviations.py: what is never answered may not wait long.
MORE = {"server": (), "client": ("--client-timeout", "6")}
# One case, which may hang until the suite gives it up.
CASE_LIMIT_S = 120
# They are kept in the repository, hundreds of them. What never ends is kept to here.
MOST_BYTES = 150_000


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A capture to make."""

    role: str
    name: str
    case: str
    requirement: str
    transfers: int


def wanted(table, names):
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
        transfers = table.transfers.get(name, 1)
        yield Wanted(role, name, table.cases[role][name], known[role][name], transfers)


def make(table, names, jobs):
    """Makes the captures; returns a sentence for each that could not be made."""
    chosen = list(wanted(table, names))
    for role in table.cases:
        (DEVIATIONS / role).mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [problem for problem in pool.map(_try, chosen) if problem]


def _try(each):
    try:
        _make_one(each)
    except CannotMake as problem:
        return f"{each.role} {each.name}: {problem}"
    return None


def _make_one(each):
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch)
        case = run_case(each, report)
        if not blames(case, each.requirement):
            raise CannotMake(f"{each.case} gave {case['verdict']}, not {each.requirement}")
        if not case["capture"]:
            raise CannotMake(f"{each.case} left no capture")
        data = (report / case["capture"]).read_bytes()
        deviation_table.capture(each.role, each.name).write_bytes(head(data))


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
    """The row of report.json for the case, run against the peer that deviates."""
    suite, option = SUITES[each.role]
    command = [PYTHON, "-m", "pytest", suite, "-q", "--case", each.case, option, each.name]
    command += [*MORE[each.role], "--report", report]
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

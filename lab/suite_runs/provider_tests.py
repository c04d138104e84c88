"""The tests that run over every provider, run inside a target's machine over its RDMA device."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import xml.etree.ElementTree

from lab import host
from lab.failure import LabFailure
from lab.images import program
from lab.images.image import Image
from lab.machines.machine import Machine
from lab.target import PROJECT, Target

# The build whose first program is the newest is used, unless a program is named.
BUILDS = tuple(f"build/{preset}" for preset in ("release", "asan", "dev"))
# Of the fabric, of the reference peers over it, and of steertag-serve as a process.
PROGRAMS = (
    "engine/fabric/fabric_test",
    "engine/fabric/fabric_threads_test",
    "engine/server/server_test",
    "tools/serve_test",
)
SERVER = "tools/steertag-serve"
GUEST_ADDRESS = "10.0.2.15"
# One provider test takes 0.1 s in the emulated machine; what hangs has its own limit of 20 s.
RUN_LIMIT_S = 900
REPORT = f"/{program.GUEST_DIRECTORY}/report"
# Lines that are printed of what a failed test says.
MOST_LINES_TOLD = 12


@dataclasses.dataclass
class Totals:
    """Counts of one run, the tests that were skipped, and those that failed with what they say."""

    passed: int
    skipped: list[str]
    failed: dict[str, list[str]]


def find_programs(named: str | None) -> list[pathlib.Path]:
    """The test programs to run; fails before a machine is booted in vain."""
    if named:
        found = [PROJECT / named]
    else:
        builds = [PROJECT / build for build in BUILDS if (PROJECT / build / PROGRAMS[0]).is_file()]
        newest = max(
            builds,
            key=lambda build: (build / PROGRAMS[0]).stat().st_mtime,
            default=PROJECT / BUILDS[-1],
        )
        found = [newest / name for name in PROGRAMS]
    for each in found:
        if not each.is_file():
            path = each.relative_to(PROJECT) if each.is_relative_to(PROJECT) else each
            raise LabFailure(f"{path} is missing; build the target {each.name} first")
    return found


def run(target: Target, test_programs: list[pathlib.Path], arguments: list[str]) -> int:
    """Runs each program in a machine of its own and prints the totals; returns an exit code."""
    image = Image(target)
    image.build()
    directory = target.directory / "provider-tests"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    complete = True
    for test_program in test_programs:
        status, totals = _run_one(target, image, test_program, arguments, directory)
        passed = judged(target, test_program, target.device, status, totals)
        complete = passed and complete
    host.say(f"the programs' output is in {directory.relative_to(PROJECT)}")
    return 0 if complete else 1


def judged(
    target: Target, test_program: pathlib.Path, over: str, status: int, totals: Totals
) -> bool:
    """Prints the totals of one program; whether something has run, and all of it passed."""
    for name in totals.skipped:
        print(f"skipped {name}")
    for name, lines in totals.failed.items():
        print(f"FAILED  {name}")
        for line in lines[:MOST_LINES_TOLD]:
            print(f"        {line}")
    print(
        f"{target.name} ({Image(target).version()}): {test_program.name} over {over}: "
        f"{totals.passed} passed, {len(totals.skipped)} skipped, {len(totals.failed)} failed",
        flush=True,
    )
    return status == 0 and totals.passed > 0 and not totals.failed


def pack(
    test_program: pathlib.Path,
    options: list[str],
    environment: dict[str, str],
    root: pathlib.Path,
    scratch: pathlib.Path,
) -> pathlib.Path:
    """The root file system with a test program, which leaves a report, and the server that it may start."""
    server = test_program.parent / pathlib.Path(SERVER).name
    return program.append(
        test_program,
        ["--gtest_color=no", f"--gtest_output=xml:{REPORT}", *options],
        {
            **environment,
            "STEERTAG_SERVE": program.guest_path(server),
            "TMPDIR": f"/{program.GUEST_DIRECTORY}",
        },
        root,
        scratch,
        (server,) if server.is_file() else (),
    )


def _run_one(
    target: Target,
    image: Image,
    test_program: pathlib.Path,
    arguments: list[str],
    directory: pathlib.Path,
) -> tuple[int, Totals]:
    # `Verbs/` is how the instances of the suites over verbs are called.
    options = ["--gtest_filter=Verbs/*", *arguments]
    environment = {"STEERTAG_PROVIDERS": "verbs", "STEERTAG_VERBS_HOST": GUEST_ADDRESS}
    scratch = directory / "scratch"
    root = pack(test_program, options, environment, image.root, scratch)
    output = directory / f"{test_program.name}.log"
    report = directory / f"{test_program.name}.xml"
    console = directory / f"{test_program.name}.console.log"
    console.write_bytes(b"")
    serials = (f"file:{output}", f"file:{report}")
    machine = Machine(target, image.kernel, root, {}, console, "device", serials)
    try:
        host.say(f"running {test_program.name} over {target.device}")
        machine.boot()
        status = machine.wait_program(RUN_LIMIT_S)
    finally:
        machine.power_off()
        shutil.rmtree(scratch, ignore_errors=True)
    for complaint in machine.complaints():
        host.say(f"the guest's console has: {complaint}")
    return status, read_report(report, output)


def read_report(report: pathlib.Path, output: pathlib.Path) -> Totals:
    """Counts GoogleTest's report; a program that was cut off has left none."""
    try:
        cases = xml.etree.ElementTree.parse(report).getroot().findall("testsuite/testcase")
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        tail = output.read_text(errors="replace").splitlines()[-20:] if output.exists() else []
        last = "".join(f"\n    {line}" for line in tail)
        raise LabFailure(f"the test program left no report ({error}); its output ends with:{last}")
    totals = Totals(0, [], {})
    for case in cases:
        name = f"{case.get('classname')}.{case.get('name')}"
        if failures := case.findall("failure"):
            told = "\n".join(failure.get("message", "") for failure in failures)
            totals.failed[name] = told.splitlines()
        elif case.find("skipped") is not None:
            totals.skipped.append(name)
        elif case.get("status") == "run":
            totals.passed += 1
    return totals

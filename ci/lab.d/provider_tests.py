"""The provider tests of the fabric, run inside a target's machine over its RDMA device."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import xml.etree.ElementTree

import host
import program
from failure import LabFailure
from image import Image
from machine import Machine
from target import PROJECT, Target

# The first build that exists is used, unless another program is named.
PROGRAMS = tuple(
    f"build/{preset}/engine/fabric/fabric_test" for preset in ("release", "asan", "dev")
)
GUEST_ADDRESS = "10.0.2.15"
# One provider test takes 0.1 s in the emulated machine; what hangs has its own limit of 20 s.
RUN_LIMIT_S = 900
REPORT = f"/{program.GUEST_DIRECTORY}/report"


@dataclasses.dataclass
class Totals:
    """Counts of one run, and the names of the tests that failed and that were skipped."""

    passed: int
    skipped: list[str]
    failed: list[str]


def find_program(named: str | None) -> pathlib.Path:
    """The test program to run; fails before a machine is booted in vain."""
    candidates = [named] if named else PROGRAMS
    for candidate in candidates:
        if (PROJECT / candidate).is_file():
            return PROJECT / candidate
    raise LabFailure(f"{candidates[0]} is missing; build the target fabric_test first")


def run(target: Target, test_program: pathlib.Path, arguments: list[str]) -> int:
    """Runs the tests in a machine of its own and prints the totals; returns an exit code."""
    image = Image(target)
    image.build()
    directory = target.directory / "provider-tests"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    # `Verbs/` is how the instances of the suite over verbs are called.
    options = ["--gtest_filter=Verbs/*", "--gtest_color=no", f"--gtest_output=xml:{REPORT}"]
    environment = {"STEERTAG_PROVIDERS": "verbs", "STEERTAG_VERBS_HOST": GUEST_ADDRESS}
    root = program.append(
        test_program, [*options, *arguments], environment, image.root, directory / "scratch"
    )
    output, report = directory / "output.log", directory / "report.xml"
    console = directory / "console.log"
    console.write_bytes(b"")
    serials = (f"file:{output}", f"file:{report}")
    machine = Machine(target, image.kernel, root, {}, console, "device", serials)
    try:
        host.say(f"running {test_program.relative_to(PROJECT)} over {target.device}")
        machine.start()
        machine.wait_ready()
        status = machine.wait_program(RUN_LIMIT_S)
    finally:
        machine.power_off()
        shutil.rmtree(directory / "scratch", ignore_errors=True)
    totals = read_report(report, output)
    for name in totals.skipped:
        print(f"skipped {name}")
    for name in totals.failed:
        print(f"FAILED  {name}")
    for complaint in machine.complaints():
        host.say(f"the guest's console has: {complaint}")
    print(
        f"{target.name} ({image.version()}): provider tests over {target.device}: "
        f"{totals.passed} passed, {len(totals.skipped)} skipped, {len(totals.failed)} failed; "
        f"{output.relative_to(PROJECT)}",
        flush=True,
    )
    return 0 if status == 0 and totals.passed and not totals.failed else 1


def read_report(report: pathlib.Path, output: pathlib.Path) -> Totals:
    """Counts GoogleTest's report; a program that was cut off has left none."""
    try:
        cases = xml.etree.ElementTree.parse(report).getroot().findall("testsuite/testcase")
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        tail = output.read_text(errors="replace").splitlines()[-20:] if output.exists() else []
        last = "".join(f"\n    {line}" for line in tail)
        raise LabFailure(f"the test program left no report ({error}); its output ends with:{last}")
    totals = Totals(0, [], [])
    for case in cases:
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None:
            totals.failed.append(name)
        elif case.find("skipped") is not None:
            totals.skipped.append(name)
        elif case.get("status") == "run":
            totals.passed += 1
    return totals

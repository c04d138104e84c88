"""The command line: reports of suites and fixtures in, one line for each disagreement out."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from ci.jobs.agreement import live_agreement, plugin_agreement
from ci.jobs.agreement.agreement_result import CannotCompare, write_junit
from ci.jobs.fixtures import live_judgements

SUFFIXES = (".pcap", ".pcapng")
DESCRIPTION = """\
Holds three judgements of the same connections against each other: what the judge found while a suite ran
(report.json, and what is kept of that beside the fixtures), what `steertag grade` finds in the case's
capture, and what the Wireshark plugin shows of it, in one pass and in two.
"""


def compare_live(reports, fixtures):
    """(results, captures that cases left): of live runs against grade."""
    results, captures = [], []
    for report in reports:
        for result, path in live_agreement.results_of_report(report):
            results.append(result)
            captures += [path] if path else []
    for folder in [root / name for root in fixtures for name in live_judgements.FOLDERS]:
        judged = live_judgements.load(folder)
        for result, path in live_agreement.results_of_fixtures(folder, judged):
            results.append(result)
            captures += [path] if path else []
    return results, captures


def compare_plugin(captures, fixtures, jobs):
    """Results of grade against the plugin: of these captures, and of the fixtures that no case left."""
    found = {path for root in fixtures for path in root.rglob("*") if path.suffix in SUFFIXES}
    with tempfile.TemporaryDirectory(prefix="steertag-agreement-") as folder:
        programs = plugin_agreement.wireshark(pathlib.Path(folder))
        results = list(plugin_agreement.results_of_batches(captures, programs, jobs))
        others = sorted(found - set(captures))
        return results + list(plugin_agreement.results_of_singles(others, programs, jobs))


def run(options):
    results, captures = compare_live(options.report, options.fixtures)
    findings = sum(each.findings for each in results)
    if not options.no_plugin:
        results += compare_plugin(captures, options.fixtures, options.jobs)
    for line in [line for result in results for line in result.lines()]:
        print(line)
    bad = sum(bool(each.problems) for each in results)
    print(f"{len(captures)} captures of cases, {findings} findings, {len(results)} comparisons")
    print(f"{len(results) - bad} agree, {bad} do not")
    if options.junit:
        write_junit(options.junit, results)
    return 1 if bad or not results else 0


def main(arguments):
    parser = argparse.ArgumentParser(prog="ci/agreement", description=DESCRIPTION)
    parser.add_argument("report", nargs="*", type=pathlib.Path, help="report folders of suites")
    parser.add_argument(
        "--fixtures",
        type=pathlib.Path,
        action="append",
        default=[],
        help="a folder like fixtures/captures",
    )
    parser.add_argument("--no-plugin", action="store_true", help="only live run against grade")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--junit", type=pathlib.Path)
    try:
        return run(parser.parse_args(arguments))
    except (CannotCompare, OSError, subprocess.TimeoutExpired) as error:
        print(f"agreement: {error}", file=sys.stderr)
        return 2

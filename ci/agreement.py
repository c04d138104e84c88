"""Holds three judgements of the same connections against each other: what the judge found while a suite
ran (report.json), what `steertag grade` finds in the case's capture, and what the Wireshark plugin shows
of it, in one pass and in two."""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

PROJECT = pathlib.Path(__file__).resolve().parent.parent
PLUGINS = PROJECT / "build" / "release" / "plugins"
# Captures that one tshark reads, put together in one file: it takes longer to start than to read one.
BATCH = 40
TSHARK_LIMIT_S = 300
SUFFIXES = (".pcap", ".pcapng")
# The folder of fixtures that are captures of cases, as those of reports are.
OF_CASES = "deviations"
# Of a disagreement, lines that are shown.
MOST_SHOWN = 12
# tshark ignores the plugins of root; this is nobody.
NOBODY = 65534
# Rules on what only the side that owns it knows: receives that it posted, octets beside its memory. No
# capture holds that.
OWN_KNOWLEDGE = {
    "receives_cover_calls",
    "receives_cover_grant",
    "receive_takes_1024_octets",
    "receive_is_as_announced",
    "guards_stay_intact",
}
# Captures of a link type that this version of Wireshark has no name for: no dissector gets to know it.
UNKNOWN_TO_WIRESHARK = {"roce-infiniband"}
# Texts name events by their index in a live run and by their packet in a capture.
_INDEX = re.compile(r"\b(?:event|frame) \d+")
_FIELDS = ("frame.number", "steertag.finding.frame", "steertag.finding.connection")
_FIELDS += ("steertag.finding.id", "steertag.rule", "steertag.finding.culprit")


class CannotCompare(Exception):
    """A program that is needed did not run; the text is one sentence."""


@dataclasses.dataclass(frozen=True, order=True)
class Found:
    """A finding by what live run and capture have in common."""

    rule: str
    culprit: str
    actor: str
    kind: str
    number: int
    expected: str
    observed: str

    def __str__(self):
        return (
            f"{self.rule} by the {self.culprit} at {self.kind} {self.number} of the {self.actor}: "
            f"{self.observed}"
        )


@dataclasses.dataclass
class Result:
    """What became of one capture: no problems, or sentences."""

    name: str
    problems: list
    findings: int = 0


# -- live run and grade --------------------------------------------------------------------------


def found_live(row):
    return [
        Found(
            each["rule"],
            each["culprit"],
            each.get("actor", "?"),
            each.get("kind", "?"),
            each.get("number", 0),
            _INDEX.sub("N", each["expected"]),
            _INDEX.sub("N", each["observed"]),
        )
        for each in row["findings"]
        if each["rule"] not in OWN_KNOWLEDGE
    ]


def found_graded(rows):
    return [
        Found(
            row.rule,
            row.culprit,
            row.event[0].name,
            row.event[1],
            row.event[2],
            _INDEX.sub("N", row.expected),
            _INDEX.sub("N", row.observed),
        )
        for row in rows
    ]


def client_port(end):
    return int(end.rpartition(":")[2])


def compare_live(case, graded):
    """Sentences about where the live run and the capture of a case do not agree."""
    problems = []
    own = "server" if case["id"].startswith("client.") else "client"
    by_number = collections.defaultdict(list)
    for row in graded.rows:
        by_number[row.connection].append(row)
    by_port = {client_port(each.client_end): each for each in graded.connections}
    for row in case["judged"]:
        connection = by_port.get(row["port"])
        rows = by_number[connection.number] if connection else []
        live, graded_rows = found_live(row), found_graded(rows)
        if row.get("sight_lost"):
            # What a fault hook of our own did gave no event, and is in the capture.
            graded_rows = [each for each in graded_rows if each.culprit != own]
            differ = more_blamed(live, graded_rows)
        elif connection is not None and connection.losses:
            differ = more_blamed(live, graded_rows)
        else:
            differ = difference(live, graded_rows, bool(row.get("dropped")))
        problems += [f"port {row['port']}: {each}" for each in differ]
    return problems


def difference(live, graded, dropped):
    """Sentences. Of a live run that dropped findings, which are also those of its own knowledge, the rest
    is not known."""
    live, graded = collections.Counter(live), collections.Counter(graded)
    problems = [f"only live: {each}" for each in live - graded]
    if not dropped:
        problems += [f"only in the capture: {each}" for each in graded - live]
    return problems


def more_blamed(live, graded):
    """Sentences. Where something was lost to either, a capture may show less, but blames nobody for what
    the live run does not blame him for."""
    blamed = {(each.rule, each.culprit) for each in live}
    more = [each for each in graded if (each.rule, each.culprit) not in blamed]
    return [f"only in the capture, of which a part was lost: {each}" for each in more]


# -- grade and plugin ----------------------------------------------------------------------------


def tshark(path, home, passes):
    """[(frame, connection, id, rule, culprit)] that the plugin shows."""
    columns = [argument for name in _FIELDS for argument in ("-e", name)]
    command = ["tshark", "-n", *(["-2"] if passes == 2 else []), "-r", str(path)]
    command += ["-Y", "steertag.finding.id", "-T", "fields", *columns]
    if os.geteuid() == 0:
        user = ["--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        command = ["setpriv", *user, *command]
    environment = {**os.environ, "HOME": str(home), "WIRESHARK_PLUGIN_DIR": str(home / "plugins")}
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TSHARK_LIMIT_S,
        check=False,
    )
    if done.returncode != 0:
        raise CannotCompare(f"{' '.join(command)}: status {done.returncode}: {done.stderr}")
    shown = []
    for line in done.stdout.splitlines():
        own, *lists = line.split("\t")
        for frame, *rest in zip(*(each.split(",") for each in lists)):
            if passes == 2 and frame != own:
                shown.append(("shown at", own, *rest))
            shown.append((int(frame), *rest))
    return shown


def rows_of(rows):
    return [
        (each.frame, str(each.connection), each.requirement.id, each.rule, each.culprit)
        for each in rows
    ]


def compare_plugin(path, home, graded):
    """Sentences about where the plugin does not show what grade finds."""
    problems = []
    for passes in (1, 2):
        # In one pass nothing is shown of what is known only behind the last packet.
        rows = [each for each in graded.rows if passes == 2 or each.known_frame != 0]
        wanted = collections.Counter(rows_of(rows))
        shown = collections.Counter(tshark(path, home, passes))
        pass_name = "one pass" if passes == 1 else "two passes"
        for each in wanted - shown:
            problems.append(f"{pass_name}: the plugin does not show {each}")
        for each in shown - wanted:
            problems.append(f"{pass_name}: only the plugin shows {each}")
    return problems


def merge(paths, target):
    """One capture after the other, as one file."""
    command = ["mergecap", "-a", "-w", str(target), *map(str, paths)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TSHARK_LIMIT_S, check=False
    )
    if done.returncode != 0:
        raise CannotCompare(f"mergecap: {done.stderr}")
    target.chmod(0o644)


# -- the whole -----------------------------------------------------------------------------------


def results_of_report(report):
    """Yields the Result of each case of a report that has a capture."""
    from steertag.grade.reading import grade_file

    document = json.loads((report / "report.json").read_text())
    for case in document["cases"]:
        if not case["capture"]:
            continue
        path = report / case["capture"]
        graded = grade_file(str(path), [])
        problems = [str(graded.error)] if graded.error else compare_live(case, graded)
        yield Result(f"{report.name} {case['id']}", problems, len(graded.rows)), path


def results_of_batches(paths, home, jobs):
    """The Result of each batch of captures for the plugin."""
    from steertag.grade.reading import grade_file

    batches = [paths[at : at + BATCH] for at in range(0, len(paths), BATCH)]

    def one(number):
        target = home / f"batch-{number}.pcapng"
        merge(batches[number], target)
        graded = grade_file(str(target), [])
        problems = compare_plugin(target, home, graded)
        target.unlink()
        names = f"{batches[number][0].stem} to {batches[number][-1].stem}"
        return Result(f"plugin {names}", problems, len(graded.rows))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, range(len(batches)))


def results_of_fixtures(paths, home, jobs):
    """The Result of each capture that was not made by a suite: the plugin against grade."""
    from steertag.grade.reading import grade_file

    def one(path):
        graded = grade_file(str(path), [])
        if graded.report is None or path.stem in UNKNOWN_TO_WIRESHARK:
            return Result(f"fixture {path.stem}", [])
        target = home / path.name
        target.write_bytes(path.read_bytes())
        problems = compare_plugin(target, home, graded) if not graded.error else []
        return Result(f"fixture {path.stem}", problems, len(graded.rows))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, paths)


def write_junit(path, results):
    root = xml.Element("testsuite", name="agreement", tests=str(len(results)))
    for result in results:
        case = xml.SubElement(root, "testcase", classname="agreement", name=result.name)
        if result.problems:
            failure = xml.SubElement(case, "failure", message=result.problems[0])
            failure.text = "\n".join(result.problems[:MOST_SHOWN])
    root.set("failures", str(sum(bool(each.problems) for each in results)))
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def run(arguments):
    results, captures = [], []
    for report in arguments.report:
        for result, path in results_of_report(report):
            results.append(result)
            captures.append(path)
    live = sum(each.findings for each in results)
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        home.chmod(0o755)
        if not arguments.no_plugin:
            if not list(PLUGINS.glob("*/epan/steertag.so")):
                raise CannotCompare(f"{PLUGINS}: no plugin; build with -DSTEERTAG_DISSECTOR=ON")
            # Another user may not be let into the checkout.
            shutil.copytree(PLUGINS, home / "plugins")
            found = (each for root in arguments.fixtures for each in root.rglob("*"))
            fixtures = sorted(each for each in found if each.suffix in SUFFIXES)
            of_cases = [each for each in fixtures if OF_CASES in each.parts]
            others = [each for each in fixtures if OF_CASES not in each.parts]
            results += results_of_batches(captures + of_cases, home, arguments.jobs)
            results += results_of_fixtures(others, home, arguments.jobs)
    for result in results:
        for problem in result.problems[:MOST_SHOWN]:
            print(f"{result.name}: {problem}")
    bad = sum(bool(each.problems) for each in results)
    print(f"{len(captures)} captures of cases with {live} findings, {len(results)} comparisons")
    print(f"{len(results) - bad} agree, {bad} do not")
    if arguments.junit:
        write_junit(arguments.junit, results)
    return 1 if bad or not results else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", nargs="*", type=pathlib.Path, help="report folders of suites")
    parser.add_argument("--fixtures", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--no-plugin", action="store_true", help="only live run against grade")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--junit", type=pathlib.Path)
    try:
        return run(parser.parse_args())
    except (CannotCompare, OSError, subprocess.TimeoutExpired) as error:
        print(f"agreement: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

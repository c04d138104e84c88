#!/usr/bin/env python3
"""The mutation score: runs a suite against the bundled server, or our own client, with each of its
deviations and checks that a case finds it under the requirement that the deviation breaks.

Each deviation is tried first with the cases that claim its requirement, because they are few, and
with the whole suite if they miss it; with --whole each is tried with the whole suite, to its end, so that
one knows of each case what makes it fail. One that breaks further requirements is tried for each of them."""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

from blame import JUDGEMENTS, blames

PROJECT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Peer:
    """Who deviates: the suite that tests it, the variable that names its program to the suite, and the
    options of a run."""

    suite: str
    program: str
    option: str
    more: tuple = ()


PEERS = {
    "server": Peer("suites/server", "STEERTAG_SERVE", "--deviate"),
    # What is never answered may not wait as long as for a client that nobody knows.
    "client": Peer("suites/client", "STEERTAG_COPY", "--client-deviate", ("--client-timeout", "6")),
}
PROGRAMS = {"server": "steertag-serve", "client": "steertag-copy"}
# One run of the whole suite against a server that may hang in many cases.
RUN_LIMIT_S = 600
# The same where no failure ends the run: each hang costs a timeout and a new server.
WHOLE_RUN_LIMIT_S = 7200
LIST_LIMIT_S = 10
# Failures after which a run ends: what they do not blame is not blamed, and a server that breaks
# everything would cost a timeout in every case.
MOST_FAILURES = 20
# pytest's exit codes when every selected case has run, or when blame.py has ended the run.
EXPECTED_ENDS = (0, 1, 2)


class CannotScore(Exception):
    """The score cannot be computed; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Deviation:
    """A defect and one requirement that it breaks; `also` if it has another one of its own."""

    name: str
    requirement: str
    also: bool = False


@dataclasses.dataclass(frozen=True)
class Outcome:
    """`by` is the case that caught the deviation. `word` is "caught", "judged" (by a case that claims
    something else, because the judge watches every case), "misjudged" (only other requirements were
    blamed), "missed", or "no run", and then `by` says why."""

    deviation: Deviation
    word: str
    by: str = ""
    failed: tuple = ()  # ids of the cases that were seen to fail

    @property
    def good(self):
        return self.word in ("caught", "judged")


def list_deviations(program):
    """What the program says it can do wrong: each deviation with its own requirement, then each with
    the others that it breaks."""
    command = [program, "--list-deviations", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIST_LIMIT_S)
    if done.returncode != 0:
        raise CannotScore(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
        )
    try:
        rows = json.loads(done.stdout)
        own = [Deviation(row["name"], row["requirement"]) for row in rows]
        return own + [Deviation(row["name"], each, True) for row in rows for each in row["also"]]
    except (ValueError, KeyError, TypeError) as error:
        raise CannotScore(f"{' '.join(command)} printed no list of deviations: {error!r}") from None


def claims(junit):
    """{requirement: [pytest node id of each case that claims it]} from a JUnit file of the suite."""
    found = {}  # a case names a requirement twice if it claims and breaks it, hence no lists inside
    for test in xml.etree.ElementTree.parse(junit).iter("testcase"):
        path = "/".join(test.get("classname").split(".")) + ".py"
        for row in test.iter("property"):
            if row.get("name") == "requirement":
                found.setdefault(row.get("value"), {})[f"{path}::{test.get('name')}"] = None
    if not found:
        raise CannotScore(f"{junit} names no requirement: it is no report of the suite")
    return {requirement: list(nodes) for requirement, nodes in found.items()}


class Scorer:
    """Runs the suite against deviating peers."""

    def __init__(self, program, report, claims_by_requirement, peer=PEERS["server"], whole=False):
        self._peer = peer
        self._whole = whole
        paths = [str(PROJECT / "ci"), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environment = {
            **os.environ,
            peer.program: program,
            "PYTHONPATH": os.pathsep.join(paths),
        }
        self._report = report
        self._claims = claims_by_requirement
        self._limit_s = WHOLE_RUN_LIMIT_S if whole else RUN_LIMIT_S

    def score(self, deviation):
        try:
            return self._score(deviation)
        except CannotScore as error:
            return Outcome(deviation, "no run", str(error))

    def _score(self, deviation):
        claiming = self._claims.get(deviation.requirement, [])
        if claiming and not self._whole:
            cases = self._run(deviation, claiming, "claiming")
            by = find(cases, deviation.requirement)
            if by:
                return Outcome(deviation, "caught", by, failed(cases))
        cases = self._run(deviation, [self._peer.suite], "whole")
        claim = [case for case in cases if deviation.requirement in case["requirements"]]
        for word, among in (("caught", claim), ("judged", cases)):
            by = find(among, deviation.requirement)
            if by:
                return Outcome(deviation, word, by, failed(cases))
        others = failed(cases)
        word = "misjudged" if others else "missed"
        return Outcome(deviation, word, ", ".join(others[:3]), others)

    def _run(self, deviation, tests, name):
        """The cases of one run's report; none if the run did not fail."""
        part = f"{deviation.name}-{deviation.requirement}" if deviation.also else deviation.name
        directory = self._report / re.sub(r"[^\w.-]", "_", part) / name
        directory.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pytest", *tests, "-q"]
        command += [self._peer.option, deviation.name, *self._peer.more]
        command += ["--report", str(directory), "--strict-verdicts"]
        if not self._whole:
            command += ["-p", "blame", "--maxfail", str(MOST_FAILURES)]
        report = directory / "report.json"
        report.unlink(missing_ok=True)
        with open(directory / "pytest.log", "w") as log:
            try:
                done = subprocess.run(
                    command,
                    cwd=PROJECT,
                    env={**self._environment, "STEERTAG_BLAME": deviation.requirement},
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=self._limit_s,
                )
            except subprocess.TimeoutExpired:
                raise CannotScore(f"no end within {self._limit_s} s; see {log.name}") from None
        if done.returncode not in EXPECTED_ENDS or not report.exists():
            raise CannotScore(f"pytest ended with {done.returncode}; see {log.name}")
        return json.loads(report.read_text())["cases"] if done.returncode else []


def failed(cases):
    """The ids of the cases that did not pass."""
    return tuple(case["id"] for case in cases if case["verdict"] in JUDGEMENTS)


def find(cases, requirement):
    """The id of the first case that blames the requirement, or None."""
    return next((case["id"] for case in cases if blames(case, requirement)), None)


def table(outcomes):
    width = max(len(outcome.deviation.name) for outcome in outcomes)
    for outcome in outcomes:
        deviation = outcome.deviation
        yield f"{deviation.name:<{width}}  {deviation.requirement:<20}  {outcome.word:<9}  {outcome.by}"
    own = [outcome.good for outcome in outcomes if not outcome.deviation.also]
    also = [outcome.good for outcome in outcomes if outcome.deviation.also]
    yield f"\nmutation score: {sum(own)} of {len(own)} deviations, {100 * sum(own) // len(own)} %"
    if also:
        yield f"caught under further requirements that they break: {sum(also)} of {len(also)}"


def write_junit(path, outcomes):
    root = xml.etree.ElementTree.Element("testsuite", name="deviations", tests=str(len(outcomes)))
    for outcome in outcomes:
        name = outcome.deviation.name
        if outcome.deviation.also:
            name += f" ({outcome.deviation.requirement})"
        test = xml.etree.ElementTree.SubElement(root, "testcase", classname="deviation", name=name)
        if not outcome.good:
            text = f"{outcome.word}: {outcome.deviation.requirement}"
            xml.etree.ElementTree.SubElement(test, "failure", message=text)
    xml.etree.ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def write_json(path, outcomes, whole=False):
    """What `steertag coverage --deviations` reads; `by` is empty where no case caught the deviation, and
    `failed` is all that fails only if the suite was run as a `whole`."""
    rows = [
        {
            "name": outcome.deviation.name,
            "requirement": outcome.deviation.requirement,
            "outcome": outcome.word,
            "by": outcome.by if outcome.good else "",
            "failed": list(outcome.failed),
            "whole": whole and outcome.word != "no run",
        }
        for outcome in outcomes
    ]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--role", choices=PEERS, default="server", help="who deviates")
    parser.add_argument("--program", help="the peer's program (that of build/release)")
    parser.add_argument("--conforming", required=True, help="junit.xml of a run without deviation")
    parser.add_argument("--report", type=pathlib.Path, default=pathlib.Path("build/deviations"))
    parser.add_argument("--junit", type=pathlib.Path, help="where to write the table as JUnit")
    parser.add_argument("--json", type=pathlib.Path, help="where to write the table as JSON")
    parser.add_argument(
        "--whole", action="store_true", help="run all cases with each deviation (hours)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*", help="only these deviations")
    options = parser.parse_args()
    try:
        program = options.program or f"build/release/tools/{PROGRAMS[options.role]}"
        deviations = list_deviations(program)
        unknown = set(options.names) - {deviation.name for deviation in deviations}
        if unknown:
            raise CannotScore(f"the {options.role} has no deviation {', '.join(sorted(unknown))}")
        chosen = [each for each in deviations if not options.names or each.name in options.names]
        if not chosen:
            raise CannotScore(f"the {options.role} has no deviations")
        scorer = Scorer(
            str(pathlib.Path(program).resolve()),
            options.report.resolve(),
            claims(options.conforming),
            PEERS[options.role],
            options.whole,
        )
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(scorer.score, chosen))
    except (CannotScore, OSError, xml.etree.ElementTree.ParseError) as error:
        sys.exit(f"deviations: {error}")
    print("\n".join(table(outcomes)))
    if options.junit:
        write_junit(options.junit, outcomes)
    if options.json:
        write_json(options.json, outcomes, options.whole)
    return 0 if all(outcome.good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The mutation score: runs a suite against the bundled server, or our own client, with each of its
deviations and checks that a case finds it under the requirement that the deviation breaks.

Each deviation is tried first with the cases that claim its requirement, because they are few; one of
these has to catch it. If they miss it the whole suite tells what it does instead. One that breaks further
requirements is tried for each of them. With --whole the cases that claim it run to their end, and then each
deviation is tried with all cases that none has made fail so far, so that one knows of each case whether
anything makes it fail under a requirement that it claims."""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
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
WHOLE_RUN_LIMIT_S = 3600
LIST_LIMIT_S = 10
# Failures after which a run of the whole suite ends: what they do not blame is not blamed, and a server
# that breaks everything would cost a timeout in every case.
MOST_FAILURES = 20
# The same of the cases that are left with --whole: a peer that fails so many of them breaks what all cases
# begin with, and shows nothing about any.
MOST_FAILURES_OF_REST = 100
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
    """`by` is the case that caught the deviation. `word` is "caught" (by a case that claims the
    requirement), "judged" (only by one that claims something else, because the judge watches every case),
    "misjudged" (only other requirements were blamed), "missed", or "no run", and then `by` says why.
    """

    deviation: Deviation
    word: str
    by: str = ""
    failed: tuple = ()  # ids of the cases that were seen to fail under a requirement that they claim
    whole: bool = False  # was tried with each case that no deviation had made fail before
    seen: tuple = ()  # unless good: one line for each case that claims the requirement, or did not pass

    @property
    def good(self):
        return self.word == "caught"


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
    """{requirement: [pytest node id of each case that claims it]} from a JUnit file of the suite. In an order
    of their own: that of the file is the one in which its workers came to an end."""
    found = {}  # a case names a requirement twice if it claims and breaks it, hence no lists inside
    for node, name, value in _properties(junit):
        if name == "requirement":
            found.setdefault(value, {})[node] = None
    if not found:
        raise CannotScore(f"{junit} names no requirement: it is no report of the suite")
    return {requirement: sorted(nodes) for requirement, nodes in found.items()}


def all_cases(junit):
    """{id of a case: its pytest node id} from a JUnit file of the suite."""
    return {value: node for node, name, value in _properties(junit) if name == "case"}


def _properties(junit):
    for test in xml.etree.ElementTree.parse(junit).iter("testcase"):
        path = "/".join(test.get("classname").split(".")) + ".py"
        for row in test.iter("property"):
            yield f"{path}::{test.get('name')}", row.get("name"), row.get("value")


class Rest:
    """The cases that no deviation has made fail so far; shared by all runs."""

    def __init__(self, nodes):
        self._nodes = dict(nodes)
        self._lock = threading.Lock()

    def nodes(self):
        with self._lock:
            return list(self._nodes.values())

    def strike(self, ids):
        with self._lock:
            for each in ids:
                self._nodes.pop(each, None)


class Scorer:
    """Runs the suite against deviating peers."""

    def __init__(self, program, report, claims_by_requirement, peer=PEERS["server"], rest=None):
        """`rest`, a Rest, asks for what --whole gives."""
        self._peer = peer
        self._rest = rest
        paths = [str(PROJECT / "ci"), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environment = {
            **os.environ,
            peer.program: program,
            "PYTHONPATH": os.pathsep.join(paths),
        }
        self._report = report
        self._claims = claims_by_requirement
        self._limit_s = RUN_LIMIT_S if rest is None else WHOLE_RUN_LIMIT_S

    def score(self, deviation):
        try:
            return self._score(deviation)
        except CannotScore as error:
            return Outcome(deviation, "no run", str(error))

    def _score(self, deviation):
        claiming = self._claims.get(deviation.requirement, [])
        if claiming:
            # No failure ends it but the one that is looked for: many cases that claim a requirement
            # fail of a deviation under another one first.
            cases = self._run(deviation, claiming, "claiming", None, self._rest is None)
            by = find(cases, deviation.requirement)
            if by:
                return self._outcome(deviation, "caught", by, cases)
        cases = self._run(deviation, [self._peer.suite], "whole", MOST_FAILURES, True)
        claim = [case for case in cases if deviation.requirement in case["requirements"]]
        for word, among in (("caught", claim), ("judged", cases)):
            by = find(among, deviation.requirement)
            if by:
                return self._outcome(deviation, word, by, cases)
        others = failed(cases)
        word = "misjudged" if others else "missed"
        return self._outcome(deviation, word, ", ".join(others[:3]), cases)

    def _outcome(self, deviation, word, by, cases):
        bit = bitten(cases)
        if self._rest is not None:
            self._rest.strike(bit)
        outcome = Outcome(deviation, word, by, bit)
        if outcome.good:
            return outcome
        return dataclasses.replace(outcome, seen=tuple(what_was_seen(deviation, cases)))

    def try_rest(self, outcome):
        """The outcome with what the deviation does to the cases that none has made fail so far. Its name
        is tried once, whatever it breaks."""
        if outcome.deviation.also:
            return outcome
        try:
            nodes = self._rest.nodes()
            cases = []
            if nodes:
                cases = self._run(outcome.deviation, nodes, "rest", MOST_FAILURES_OF_REST, False)
        except CannotScore as error:
            print(f"deviations: {outcome.deviation.name}: {error}", file=sys.stderr)
            return outcome
        seen = bitten(cases)
        self._rest.strike(seen)
        both = tuple(dict.fromkeys([*outcome.failed, *seen]))
        return dataclasses.replace(outcome, failed=both, whole=True)

    def _run(self, deviation, tests, name, most_failures, stop):
        """The cases of one run's report; none if the run did not fail. `stop`: at the first that blames
        the requirement."""
        part = f"{deviation.name}-{deviation.requirement}" if deviation.also else deviation.name
        directory = self._report / re.sub(r"[^\w.-]", "_", part) / name
        directory.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pytest", *tests, "-q"]
        command += [self._peer.option, deviation.name, *self._peer.more]
        command += ["--report", str(directory), "--strict-verdicts"]
        if most_failures is not None:
            command += ["--maxfail", str(most_failures)]
        if stop:
            command += ["-p", "blame"]
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


def what_was_seen(deviation, cases):
    """Lines about a deviation that was not caught: what each case gave that claims its requirement, or
    that failed."""
    for case in cases:
        claims_it = deviation.requirement in case["requirements"]
        if claims_it or case["verdict"] in JUDGEMENTS:
            word = "claims it" if claims_it else "failed"
            yield f"{word}: {case['verdict']} {case['id']}: {case['reason']}"


def failed(cases):
    """The ids of the cases that did not pass."""
    return tuple(case["id"] for case in cases if case["verdict"] in JUDGEMENTS)


def bitten(cases):
    """The ids of the cases that did not pass under a requirement that they claim: a peer that fails at what
    all cases begin with shows nothing about them."""
    return tuple(
        case["id"] for case in cases if any(blames(case, each) for each in case["requirements"])
    )


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


def not_caught(outcomes):
    """Those rows again, with what the cases gave: whoever reads the end of a long log finds it there."""
    for outcome in outcomes:
        if not outcome.good:
            deviation = outcome.deviation
            yield f"\n{outcome.word}: {deviation.name}, which breaks {deviation.requirement}: {outcome.by}"
            yield from (f"  {line}" for line in outcome.seen)


def write_junit(path, outcomes):
    root = xml.etree.ElementTree.Element("testsuite", name="deviations", tests=str(len(outcomes)))
    for outcome in outcomes:
        name = outcome.deviation.name
        if outcome.deviation.also:
            name += f" ({outcome.deviation.requirement})"
        test = xml.etree.ElementTree.SubElement(root, "testcase", classname="deviation", name=name)
        if not outcome.good:
            text = f"{outcome.word}: {outcome.deviation.requirement}: {outcome.by}"
            failure = xml.etree.ElementTree.SubElement(test, "failure", message=text)
            failure.text = "\n".join(outcome.seen)
    xml.etree.ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def write_json(path, outcomes):
    """What `steertag coverage --deviations` reads; `by` is empty where no case caught the deviation. If all
    have `whole`, a case that none has in `failed` is one that none makes fail."""
    whole = {outcome.deviation.name for outcome in outcomes if outcome.whole}
    rows = [
        {
            "name": outcome.deviation.name,
            "requirement": outcome.deviation.requirement,
            "outcome": outcome.word,
            "by": outcome.by if outcome.good else "",
            "failed": list(outcome.failed),
            "whole": outcome.deviation.name in whole and outcome.word != "no run",
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
        "--whole",
        action="store_true",
        help="try each deviation besides with all cases that none has made fail so far",
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
            Rest(all_cases(options.conforming)) if options.whole else None,
        )
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(scorer.score, chosen))
            if options.whole:
                outcomes = list(pool.map(scorer.try_rest, outcomes))
    except (CannotScore, OSError, xml.etree.ElementTree.ParseError) as error:
        sys.exit(f"deviations: {error}")
    print("\n".join([*table(outcomes), *not_caught(outcomes)]))
    if options.junit:
        write_junit(options.junit, outcomes)
    if options.json:
        write_json(options.json, outcomes)
    return 0 if all(outcome.good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Runs a suite against each deviation of our own server or client, and finds the case that catches
it.

Each deviation meets the few cases that claim its requirement first; one of them must catch it. If
they miss it, the whole suite shows what the deviation does instead. A deviation with further
requirements is tried for each of them.

With a Rest, the claiming cases run to their end. Then each deviation meets all cases that none has
made fail so far. The result says for each case whether a deviation makes it fail under a claimed
requirement."""

import dataclasses
import json
import os
import pathlib
import re
import sys

from .. import build_paths
from .. import requirements as ledger
from . import first_catch
from .attribution import attributing, failed, failed_as_claimed, first_shown, JUDGEMENTS
from .deviating_peer import CannotScore, Deviation, PEERS
from .fork_server import NoEnd, PYTEST_OPTIONS, run_module
from .provider_choice import listening

# Limit of a run of the whole suite against a server that may hang in many cases.
RUN_LIMIT_S = 600
# The same if no failure ends the run: each hang costs a time-out and a new server.
WHOLE_RUN_LIMIT_S = 3600
# Failures that end a run of the whole suite. A server that breaks everything would cost a time-out
# in every case.
MOST_FAILURES = 20
# The same for the remaining cases of --whole. A peer with more failures breaks the preparation of
# all cases.
MOST_FAILURES_OF_REST = 100
# pytest's exit codes if every selected case has run, if first_catch has ended the run, or if the peer is lost.
EXPECTED_ENDS = (0, 1, 2)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """`by` is the case that caught the deviation. `word` is one of:

    - "caught": by a case that claims the requirement;
    - "judged": only by another case, because the judge watches every case;
    - "misjudged": only other requirements were named;
    - "missed";
    - "no run": `by` says why.
    """

    deviation: Deviation
    word: str
    by: str = ""
    failed: tuple = ()  # Ids of the cases that failed under a requirement that they claim.
    whole: bool = False  # Tried with each case that no earlier deviation made fail.
    shown: str = ""  # The requirement that the case `by` shows first as broken.
    seen: tuple = ()  # Unless good: one line for each case that claims the requirement or failed.

    @property
    def good(self):
        return self.word == "caught"

    @property
    def blame(self):
        """Where the case `by` shows the deviation first:

        - "right": under its own requirement;
        - "declared": under another one that it declares to break, or that restates one of those;
        - "end": under none; the peer died, or sent what the provider refuses;
        - "wrong": under any other;
        - "": it is not caught, or this is about a further requirement."""
        if self.deviation.also or not self.good:
            return ""
        if self.shown in ("", self.deviation.requirement):
            return "right" if self.shown else "end"
        exemption = ledger.find(self.shown).exemption
        same = {self.shown, *(exemption.by if exemption else ())}
        return "wrong" if same.isdisjoint(self.deviation.breaks) else "declared"

    @property
    def faultless(self):
        """Whether it is caught, and no reader is misled."""
        return self.good and self.blame != "wrong"


class Scorer:
    """Runs the suite against deviating peers."""

    def __init__(
        self,
        program,
        report,
        claims_by_requirement,
        peer=PEERS["server"],
        suite=None,
        rest=None,
        provider=None,
    ):
        """`suite` is the folder of all cases; None: that of the checkout. `rest`, a Rest, selects
        --whole. `provider`: that of every run; None: the one that shows who breaks the row."""
        self._peer = peer
        self._suite = str(suite or pathlib.Path("suites") / peer.suite)
        self._rest = rest
        self._provider = provider
        self._environment = {**os.environ, peer.variable: str(program)}
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
            # Only the wanted failure ends the run: many cases fail under another requirement
            # first.
            cases = self._run(deviation, claiming, "claiming", None, self._rest is None)
            by = attributing(cases, deviation.requirement)
            if by:
                return self._outcome(deviation, "caught", by, cases)
        cases = self._run(deviation, [self._suite], "whole", MOST_FAILURES, True)
        claim = [case for case in cases if deviation.requirement in case["requirements"]]
        for word, among in (("caught", claim), ("judged", cases)):
            by = attributing(among, deviation.requirement)
            if by:
                return self._outcome(deviation, word, by, cases)
        others = failed(cases)
        word = "misjudged" if others else "missed"
        return self._outcome(deviation, word, ", ".join(others[:3]), cases)

    def _outcome(self, deviation, word, by, cases):
        seen = failed_as_claimed(cases)
        if self._rest is not None:
            self._rest.strike(seen)
        outcome = Outcome(deviation, word, by, seen, shown=first_shown(cases, by))
        if outcome.good:
            return outcome
        return dataclasses.replace(outcome, seen=tuple(what_was_seen(deviation, cases)))

    def try_rest(self, outcome):
        """The outcome with the failures among the cases that no deviation has made fail so far.
        Each name is tried once, for all its requirements."""
        if outcome.deviation.also:
            return outcome
        try:
            nodes = self._rest.nodes()
            cases = []
            if nodes:
                cases = self._run(outcome.deviation, nodes, "rest", MOST_FAILURES_OF_REST, False)
        except CannotScore as error:
            print(f"mutation: {outcome.deviation.name}: {error}", file=sys.stderr)
            return outcome
        seen = failed_as_claimed(cases)
        self._rest.strike(seen)
        both = tuple(dict.fromkeys([*outcome.failed, *seen]))
        return dataclasses.replace(outcome, failed=both, whole=True)

    def _run(self, deviation, tests, name, most_failures, stop):
        """The cases of one run's report; none if the run did not fail. `stop`: ends it at the first
        case that names the requirement as broken."""
        part = f"{deviation.name}-{deviation.requirement}" if deviation.also else deviation.name
        directory = self._report / re.sub(r"[^\w.-]", "_", part) / name
        directory.mkdir(parents=True, exist_ok=True)
        arguments = [*PYTEST_OPTIONS, "-p", "steertag.suite.plugin", *tests, "-q"]
        arguments += [self._peer.option, deviation.name, *self._peer.more]
        arguments += [f"--server-arg={each}" for each in deviation.argument.split()]
        arguments += ["--report", str(directory), "--strict-verdicts"]
        arguments += listening(deviation.requirement, self._provider)
        if most_failures is not None:
            arguments += ["--maxfail", str(most_failures)]
        if stop:
            arguments += ["-p", first_catch.__name__]
        report = directory / "report.json"
        report.unlink(missing_ok=True)
        log = directory / "pytest.log"
        log.unlink(missing_ok=True)
        try:
            status = run_module(
                "pytest",
                arguments,
                folder=build_paths.checkout(),
                environment={**self._environment, first_catch.REQUIREMENT: deviation.requirement},
                output=log,
                errors=log,
                limit_s=self._limit_s,
            )
        except NoEnd:
            raise CannotScore(f"no end within {self._limit_s} s; see {log}") from None
        if status not in EXPECTED_ENDS or not report.exists():
            raise CannotScore(f"pytest ended with {status}; see {log}")
        return json.loads(report.read_text())["cases"] if status else []


def what_was_seen(deviation, cases):
    """Lines about an uncaught deviation: the results of the cases that claim its requirement or
    failed."""
    for case in cases:
        claims_it = deviation.requirement in case["requirements"]
        if claims_it or case["verdict"] in JUDGEMENTS:
            word = "claims it" if claims_it else "failed"
            yield f"{word}: {case['verdict']} {case['id']}: {case['reason']}"

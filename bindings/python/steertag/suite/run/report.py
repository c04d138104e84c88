"""Collects the records of cases, from all workers, and writes report.json, index.html and junit.xml."""

import copy
import dataclasses
import json
import os

from _pytest.junitxml import LogXML

from ... import __version__
from ... import requirements as ledger
from ...atomic_file import write_atomically
from ...causes import RunCases
from ...report_page.page import page
from ...report_page.run_content import run_content
from ...verdict import Verdict

# Folders of the report directory.
CAPTURES, FAILURES, TEXTS = "captures", "failures", "texts"
PAGE = "index.html"
# Characters of a failure in junit.xml: a line for a CI page. The whole text is in TEXTS.
MOST_JUNIT_CHARACTERS = 300


@dataclasses.dataclass
class Record:
    """One row of the report; made of JSON types so that it passes between xdist processes."""

    id: str
    verdict: str
    reason: str
    findings: list
    requirements: list
    seconds: float
    capture: str | None = None
    replay: str | None = None  # the recording of a failure
    judged: list = dataclasses.field(default_factory=list)  # by connection; see judge_findings.py
    detail: str = ""
    trace: list = dataclasses.field(default_factory=list)  # Of a failure; see trace_rows.py.
    cause: dict | None = None  # Fields of causes.CaseCause, of a case that went wrong.
    sentence: str = ""  # what the case tries
    baseline: str = ""  # With one: terminal.EXPECTED or DIFFERENT.
    environment: str = ""  # The text of the one that a combination met.

    @property
    def rank(self):
        return Verdict(self.verdict).rank

    def row(self):
        """The record as report.json shows it."""
        row = dataclasses.asdict(self)
        del row["detail"]
        row["seconds"] = round(self.seconds, 3)
        for name in ("trace", "baseline", "environment"):
            if not row[name]:
                del row[name]
        return row


class Report:
    """All records of a run. Of two records of a case, the worse is kept."""

    def __init__(self):
        self.records = {}
        self.target = ""
        self.name = ""  # Of the target, by its profile.
        self.software = ""  # The version of the target, by its profile.
        self.run_seed = 0  # Of the XIDs.
        self.stopped = ""  # Why the run ended early.
        self.partial = False  # Some cases of the suite were not selected, or did not run.
        self.metadata = {}  # see run_metadata.py

    def add(self, record):
        known = self.records.get(record.id)
        if known is None or record.rank > known.rank:
            self.records[record.id] = record

    def sorted(self):
        return [self.records[case_id] for case_id in sorted(self.records)]

    def totals(self):
        """{verdict: number of cases} with every verdict, in the order of their rank."""
        totals = {verdict.value: 0 for verdict in Verdict}
        for record in self.records.values():
            totals[record.verdict] += 1
        return totals

    def executed(self):
        """The number of cases with a verdict on the target, good or bad."""
        return sum(
            Verdict(record.verdict).outcome in ("passed", "failed")
            for record in self.records.values()
        )

    def document(self):
        document = {"steertag": __version__, "target": self.target, "totals": self.totals()}
        document["run_seed"] = self.run_seed
        if self.name:
            document["name"] = self.name
        if self.software:
            document["software"] = self.software
        if self.stopped:
            document["stopped"] = self.stopped
        if self.partial:
            document["partial"] = True
        if self.metadata:
            document["run"] = self.metadata
        document["clauses"] = self.clauses()
        document["cases"] = [record.row() for record in self.sorted()]
        return document

    def causes(self):
        """The causes.RunCases of the run so far."""
        rows = [record.row() for record in self.sorted()]
        return RunCases.of({"cases": rows, "clauses": self.clauses()})

    def clauses(self):
        """{id: clause} of the requirements that causes name."""
        causes = [record.cause for record in self.records.values() if record.cause]
        names = {each for cause in causes for each in (cause["requirement"], *cause["follows"])}
        return {name: ledger.clause(name) for name in sorted(names - {""})}

    def write(self, path):
        """Writes report.json, and the page beside it, each whole or not at all; raises OSError."""
        document = self.document()
        write_atomically(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        write_atomically(path.with_name(PAGE), page(run_content(document, path.parent)))


class JunitReport(LogXML):
    """pytest's JUnit XML, started at the first case and renamed into place at the end."""

    def __init__(self, path):
        self.final_path = path
        self.error = None
        super().__init__(
            str(path.with_name(f"{path.name}.part")), None, "steertag", "no", family="xunit2"
        )

    def pytest_runtest_logreport(self, report):
        """Takes a failure of a case in one line."""
        brief = getattr(report, "steertag_brief", "")
        if brief:
            report = copy.copy(report)
            report.longrepr = brief[:MOST_JUNIT_CHARACTERS]
        super().pytest_runtest_logreport(report)

    def pytest_sessionfinish(self):
        try:
            super().pytest_sessionfinish()
            os.replace(self.logfile, self.final_path)
        except OSError as error:
            self.error = error

    def pytest_terminal_summary(self, terminalreporter):
        """Prints nothing: the suite's own summary names the report directory."""

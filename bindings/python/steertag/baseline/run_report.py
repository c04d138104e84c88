"""The parts of a run's report.json that a baseline needs."""

import dataclasses
import re

from .. import json_file
from ..causes import CaseCause
from ..json_file import text
from .case_outcome import Outcome, VERDICTS, names_twice
from .error import BaselineError, cannot_read

REPORT = "report.json"
HEAD_KEYS = ("name", "target", "software", "steertag")
# What ci/lab says of a machine, as `software`: Linux 6.1.0-56-amd64 (Debian 6.1.192-2)
KERNEL = re.compile(r"\bLinux \S+ \(Debian ([^\s()]+)\)")
# A report beyond these limits is not from the suite.
MAX_CASES = 100_000
LARGEST_REPORT = 256 << 20


@dataclasses.dataclass(frozen=True)
class Case:
    """One case of the report. `requirements` holds those of the case and of its findings."""

    id: str
    outcome: Outcome
    requirements: tuple
    findings: tuple = ()
    cause: tuple | None = None  # key of causes.CaseCause, of a case that went wrong
    environment: str = ""  # the text of the environment that a combination met

    @classmethod
    def of(cls, entry):
        """From an entry of report.json; raises ValueError, KeyError or TypeError."""
        case_id, verdict = text(entry["id"]), entry["verdict"]
        if not case_id:
            raise ValueError("a case without an id")
        if verdict not in VERDICTS:
            raise ValueError(f"{case_id} has the unknown verdict {verdict}")
        findings = tuple(dict.fromkeys(text(finding["id"]) for finding in entry["findings"]))
        requirements = tuple(dict.fromkeys((*map(text, entry["requirements"]), *findings)))
        cause = CaseCause.of(entry["cause"]).key if entry.get("cause") else None
        outcome = Outcome(verdict, text(entry["reason"]))
        environment = text(entry.get("environment", ""))
        return cls(case_id, outcome, requirements, findings, cause, environment)


@dataclasses.dataclass(frozen=True)
class Report:
    """The cases of a run. `name` is the target's name in its profile, or empty; `target` is its
    URL. `software` and `steertag` are the versions of target and suite. `partial`: some cases of the
    suite are missing. `clauses`: {requirement id: sentence}."""

    cases: list
    name: str = ""
    target: str = ""
    partial: bool = False
    software: str = ""
    steertag: str = ""
    clauses: dict = dataclasses.field(default_factory=dict)

    @property
    def kernel(self):
        """The version of the package of the target's kernel, by `software`; empty if it does not say."""
        found = KERNEL.search(self.software)
        return found[1] if found else ""


def load_report(path):
    """The Report in report.json, or in the report directory `path`; raises BaselineError."""
    if path.is_dir():
        path = path / REPORT
    try:
        document = json_file.load(path, LARGEST_REPORT)
        cases = [Case.of(entry) for entry in document["cases"]]
        stopped = document.get("stopped")
        head = {key: text(document.get(key, "")) for key in HEAD_KEYS}
        clauses = {text(name): text(clause) for name, clause in document.get("clauses", {}).items()}
        partial = bool(document.get("partial", False))
        report = Report(cases, partial=partial, clauses=clauses, **head)
    except OSError as error:
        raise cannot_read("report", path, error) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = json_file.problem(error)
        raise BaselineError(f"{path} is not a report of the suite: {problem}") from None
    if stopped:
        raise BaselineError(f"{path} is of a run that stopped before its end: {stopped}")
    if len(cases) > MAX_CASES:
        raise BaselineError(f"{path} has {len(cases)} cases, more than the limit of {MAX_CASES}")
    twice = names_twice(case.id for case in cases)
    if twice:
        raise BaselineError(f"{path} names more than once: {', '.join(twice)}")
    return report

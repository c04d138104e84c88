"""The cases of a run that went wrong, from its report.json."""

import dataclasses

from .. import json_file
from ..json_file import text
from .case_cause import CaseCause

# Verdicts that fail a run. A warning is folded too, apart from them.
FAILURES, WARN = ("fail", "crash", "hang", "harness-error"), "warn"
# A report beyond this is not from the suite.
LARGEST_REPORT = 256 << 20


class BadReport(Exception):
    """A report that cannot be read; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A case that went wrong. `requirements` are those that it claims; `capture` and `replay` are paths
    below the report directory, or None."""

    id: str
    verdict: str
    reason: str
    cause: CaseCause
    requirements: tuple = ()
    capture: str | None = None
    replay: str | None = None

    @classmethod
    def of(cls, entry):
        """From a case of report.json. Raises KeyError, TypeError or ValueError."""
        verdict, reason = text(entry["verdict"]), text(entry["reason"])
        given = entry.get("cause")
        cause = CaseCause.of(given) if given else CaseCause.of_reason(verdict, reason)
        paths = (entry.get(name) and text(entry[name]) for name in ("capture", "replay"))
        claimed = tuple(map(text, entry["requirements"]))
        return cls(text(entry["id"]), verdict, reason, cause, claimed, *paths)


@dataclasses.dataclass(frozen=True)
class RunCases:
    """`failed` and `warned` are lists of Case. `clauses`: {requirement id: "RFC 8166 3.3.1 (MUST NOT):
    sentence"} of the ledger, for those that the cases name."""

    failed: list
    warned: list
    clauses: dict

    @classmethod
    def of(cls, document):
        """From the content of report.json. Raises KeyError, TypeError, ValueError or AttributeError."""
        verdicts = (*FAILURES, WARN)
        cases = [Case.of(each) for each in document["cases"] if each["verdict"] in verdicts]
        clauses = {text(name): text(clause) for name, clause in document.get("clauses", {}).items()}
        failed = [case for case in cases if case.verdict != WARN]
        return cls(failed, [case for case in cases if case.verdict == WARN], clauses)


def load(path):
    """The RunCases of report.json, or of the report directory `path`. Raises BadReport."""
    if path.is_dir():
        path = path / "report.json"
    try:
        return RunCases.of(json_file.load(path, LARGEST_REPORT))
    except OSError as error:
        raise BadReport(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = json_file.problem(error)
        raise BadReport(f"{path} is not a report of the suite: {problem}") from None

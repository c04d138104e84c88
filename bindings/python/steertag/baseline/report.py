"""What a run of the suite reported, as far as a baseline is concerned."""

import dataclasses
import json

from .error import BaselineError
from .outcome import Outcome, VERDICTS, names_twice

REPORT = "report.json"
MAX_CASES = 100_000  # a report beyond this is not ours


@dataclasses.dataclass(frozen=True)
class Case:
    """What the report says of one case; `requirements` holds those of the case and its findings."""

    id: str
    outcome: Outcome
    requirements: tuple
    findings: tuple = ()

    @classmethod
    def of(cls, entry):
        """From an entry of report.json; raises ValueError, KeyError or TypeError."""
        if entry["verdict"] not in VERDICTS:
            raise ValueError(f"{entry['id']} has the unknown verdict {entry['verdict']}")
        findings = tuple(dict.fromkeys(finding["id"] for finding in entry["findings"]))
        requirements = tuple(dict.fromkeys((*entry["requirements"], *findings)))
        return cls(entry["id"], Outcome.of(entry), requirements, findings)


@dataclasses.dataclass(frozen=True)
class Report:
    """The cases of a run; `name` is the target's by its profile, empty if that has none, `target` its
    URL; `partial` says that only some of the suite's cases were selected."""

    cases: list
    name: str = ""
    target: str = ""
    partial: bool = False


def load_report(path):
    """The Report in report.json, or in the report directory `path`; raises BaselineError."""
    if path.is_dir():
        path = path / REPORT
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        cases = [Case.of(entry) for entry in document["cases"]]
        stopped = document.get("stopped")
        words = [document.get(key, "") for key in ("name", "target")]
        report = Report(cases, *words, partial=document.get("partial", False))
    except OSError as error:
        raise BaselineError(f"there is no report {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BaselineError(f"{path} is not a report of the suite: {error!r}") from None
    if stopped:
        raise BaselineError(f"{path} is of a run that stopped before its end: {stopped}")
    if len(cases) > MAX_CASES:
        raise BaselineError(f"{path} has {len(cases)} cases, more than the limit of {MAX_CASES}")
    twice = names_twice(case.id for case in cases)
    if twice:
        raise BaselineError(f"{path} names more than once: {', '.join(twice)}")
    return report

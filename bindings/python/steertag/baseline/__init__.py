"""Baselines of known targets: which cases do not pass there, with which outcome, and what the target
does instead. Nothing here needs the engine, so that ci/lab can use it with any Python."""

from .comparison import NO_CASES, NOT_RUN, Comparison, Difference, compare, differences_of
from .document import Baseline, Row, load, read
from .error import BaselineError
from .outcome import EXCUSABLE, PASS, VERDICTS, Outcome
from .report import Case, Report, load_report

__all__ = [
    "Baseline",
    "BaselineError",
    "Case",
    "Comparison",
    "Difference",
    "EXCUSABLE",
    "NO_CASES",
    "NOT_RUN",
    "Outcome",
    "PASS",
    "Report",
    "Row",
    "VERDICTS",
    "compare",
    "differences_of",
    "load",
    "load_report",
    "read",
]

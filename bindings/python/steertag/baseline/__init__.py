"""Baselines of known targets: the cases that do not pass, with their outcomes and notes.

Nothing here needs the engine, so ci/lab can use it with any Python."""

from .baseline_file import Baseline, Row, load, read
from .case_outcome import EXCUSABLE, PASS, VERDICTS, Outcome
from .comparison import NO_CASES, NOT_RUN, Comparison, Difference, compare, differences_of
from .error import BaselineError
from .run_report import Case, Report, load_report

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

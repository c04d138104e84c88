"""Folds the failures of a run by cause. Nothing here needs the engine, so any Python can read a report."""

from .case_cause import CaseCause
from .cause_key import normalised
from .digest import digest
from .fold import Cause, fold
from .run_cases import BadReport, Case, RunCases, load

__all__ = [
    "BadReport",
    "Case",
    "CaseCause",
    "Cause",
    "RunCases",
    "digest",
    "fold",
    "load",
    "normalised",
]

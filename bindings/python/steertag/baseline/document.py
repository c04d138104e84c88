"""A baseline file:

    target: my-server                  # the `name` of the target's profile
    date: 2026-11-21                   # of the last change of a row
    rows:
    - case: server.binding.reduced-attributes
      verdict: fail
      requirement: RFC8166-6.1-3       # or a list
      reason: 'RFC8166-6.1-3: expected err-chunk or rpc:GARBAGE_ARGS, saw reply'
      note: What the target does instead, in words.
      or:                              # optional: further outcomes, each as exact, of a case in which
      - verdict: pass                  # the target's reaction depends on the moment
        reason: ''

A case without a row has to pass.
"""

import dataclasses

import yaml

from .error import BaselineError
from .outcome import EXCUSABLE, PASS, Outcome, names_twice

ROW_KEYS = ("case", "verdict", "requirement", "reason", "note")
OR_KEY = "or"
OUTCOME_KEYS = ("verdict", "reason")
# Above the largest file with a row for every case; more is a wrong file.
LARGEST_BASELINE = 16 << 20


@dataclasses.dataclass(frozen=True)
class Row:
    """What is expected of one case that does not (always) pass, and what the target does instead.
    Of `outcomes`, the first has the row's requirements."""

    case: str
    outcomes: tuple
    requirement: tuple
    note: str

    def __str__(self):
        return " or ".join(map(str, self.outcomes))


@dataclasses.dataclass(frozen=True)
class Baseline:
    """The rows of one target."""

    target: str
    rows: list

    def by_case(self):
        return {row.case: row for row in self.rows}

    def row(self, case):
        """The row of a case, or None."""
        return next((row for row in self.rows if row.case == case), None)


def load(path, target=""):
    """The Baseline in a file, of the target with this name if there is one; raises BaselineError,
    which names the row that is not well formed."""
    baseline = parse(path, read(path))
    if target and baseline.target != target:
        raise BaselineError(f"{path} is the baseline of {baseline.target}, not of {target}")
    unfilled = [row.case for row in baseline.rows if not row.note.strip()]
    if unfilled:
        raise BaselineError(
            f"{path}: requirement, reason and note must not be empty; "
            f"to be filled in: {', '.join(unfilled)}"
        )
    return baseline


def read(path):
    """The text of a baseline file; raises BaselineError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(LARGEST_BASELINE + 1)
    except OSError as error:
        raise BaselineError(f"there is no baseline {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BaselineError(f"{path} is not a baseline: not UTF-8 text") from None
    if len(text) > LARGEST_BASELINE:
        raise BaselineError(f"{path} is not a baseline: larger than {LARGEST_BASELINE} octets")
    return text


def parse(path, text):
    """The Baseline in a text, whose notes may be empty; raises BaselineError."""
    try:
        document = yaml.safe_load(text)
        target, entries = document["target"], document["rows"]
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise BaselineError(f"{path} is not a baseline: {' '.join(repr(error).split())}") from None
    if not isinstance(target, str) or not isinstance(entries, list | None):
        raise BaselineError(f"{path} is not a baseline: target is a name and rows is a list")
    rows = [_row(path, entry) for entry in entries or []]
    twice = names_twice(row.case for row in rows)
    if twice:
        raise BaselineError(f"{path} names more than once: {', '.join(twice)}")
    return Baseline(target, rows)


def _row(path, entry):
    if not isinstance(entry, dict) or set(entry) - {OR_KEY} != set(ROW_KEYS):
        raise BaselineError(
            f"{path}: a row has exactly the keys {', '.join(ROW_KEYS)}; got {entry}"
        )
    case, requirement, note = entry["case"], entry["requirement"], entry["note"]
    names = (requirement,) if isinstance(requirement, str) else requirement
    if not isinstance(case, str) or not isinstance(names, list | tuple) or not entry["reason"]:
        raise BaselineError(f"{path}: {case}: requirement, reason and note must not be empty")
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BaselineError(f"{path}: {case}: requirement, reason and note must not be empty")
    others = entry.get(OR_KEY, [])
    if not isinstance(others, list) or not all(map(_is_outcome, (entry, *others))):
        raise BaselineError(
            f"{path}: {case}: `{OR_KEY}` lists outcomes, each a verdict and a reason"
        )
    if not isinstance(note, str | None):
        raise BaselineError(f"{path}: {case}: the note is no text")
    outcomes = tuple(Outcome.of(each) for each in (entry, *others))
    for index, outcome in enumerate(outcomes):
        if outcome.verdict not in EXCUSABLE and (index == 0 or outcome != Outcome(PASS, "")):
            raise BaselineError(f"{path}: {case}: a baseline cannot expect {outcome}")
    return Row(case, outcomes, tuple(names), note or "")


def _is_outcome(entry):
    return (
        isinstance(entry, dict)
        and (set(entry) == set(OUTCOME_KEYS) or set(ROW_KEYS) <= set(entry))
        and isinstance(entry["verdict"], str)
        and isinstance(entry["reason"], str | None)
    )

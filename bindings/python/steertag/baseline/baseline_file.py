"""A baseline file:

    target: my-server                  # the `name` of the target's profile
    date: 2026-11-21                   # of the last change of a row
    software: Linux 6.1.192            # optional: the version of the target
    kernel: 6.1.192-2                  # optional: the version of the package of the target's kernel
    steertag: 0.1.0                    # optional: the version of the suite
    cases: 1676                        # optional: the number of cases of the run
    rows:
    - case: server.binding.reduced-attributes
      verdict: fail
      requirement: RFC8166-6.1-3       # or a list
      reason: 'RFC8166-6.1-3: expected err-chunk or rpc:GARBAGE_ARGS, saw reply'
      note: What the target does instead, in words.
      or:                              # optional: further exact outcomes of a case in which the
      - verdict: pass                  # target's reaction depends on timing
        reason: ''

A case without a row must pass.
"""

import dataclasses

from . import untested
from .case_outcome import CRASH, EXCUSABLE, HARNESS_ERROR, PASS, VERDICTS, Outcome, names_twice
from .error import BaselineError, cannot_read

ROW_KEYS = ("case", "verdict", "requirement", "reason", "note")
OR_KEY = "or"
OUTCOME_KEYS = ("verdict", "reason")
# What is known of the run; each is optional.
HEAD_KEYS = ("software", "kernel", "steertag", "cases")
# Above the largest file with a row for every case. A larger file is a wrong file.
LARGEST_BASELINE = 16 << 20
MOST_NAMED = 5  # cases that one sentence names


@dataclasses.dataclass(frozen=True)
class Row:
    """The expected outcomes of one case that does not (always) pass, and what the target does
    instead. The requirements of the row are those of the first of `outcomes`."""

    case: str
    outcomes: tuple
    requirement: tuple
    note: str

    @property
    def in_block(self):
        """Whether the row is of the block untested: without a requirement, and with the reason for
        its note."""
        return not self.requirement

    @property
    def may_crash(self):
        """Whether a crash is one of the outcomes."""
        return any(outcome.verdict == CRASH for outcome in self.outcomes)

    def __str__(self):
        return " or ".join(map(str, self.outcomes))


@dataclasses.dataclass(frozen=True)
class Baseline:
    """The rows of one target, those of the block untested last. `date` is that of the last
    change, as YYYY-MM-DD. `software`, `kernel` and `steertag` are versions, `cases` is the number of cases
    of the run. Empty or 0: unknown."""

    target: str
    rows: list
    date: str = ""
    software: str = ""
    kernel: str = ""
    steertag: str = ""
    cases: int = 0

    def by_case(self):
        return {row.case: row for row in self.rows}

    def row(self, case):
        """The row of a case, or None."""
        return next((row for row in self.rows if row.case == case), None)


def load(path, target=""):
    """The Baseline in the file `path`. It must be that of `target`, if `target` is not empty.
    Raises BaselineError, which names the malformed row."""
    baseline = parse(path, read(path))
    if target and baseline.target != target:
        raise other_target(path, baseline.target, target)
    unfilled = [row.case for row in baseline.rows if not row.note.strip()]
    if unfilled:
        raise BaselineError(
            f"{path}: a note must say what the target does instead; it is empty in "
            f"{some(unfilled)}"
        )
    return baseline


def other_target(path, target, name):
    """The BaselineError of a baseline of `target` that is used for the target `name`."""
    return BaselineError(
        f"{path} is the baseline of {target}, not of {name}: its 'target' must be the profile's 'name'"
    )


def some(cases):
    """The first names, and how many more there are."""
    more = len(cases) - MOST_NAMED
    return ", ".join(cases[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def read(path):
    """The text of a baseline file; raises BaselineError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(LARGEST_BASELINE + 1)
    except OSError as error:
        raise cannot_read("baseline", path, error) from None
    except UnicodeDecodeError:
        raise BaselineError(f"{path} is not a baseline: not UTF-8 text") from None
    if len(text) > LARGEST_BASELINE:
        raise BaselineError(f"{path} is not a baseline: larger than {LARGEST_BASELINE} octets")
    return text


def parse(path, text):
    """The Baseline in a text. Its notes may be empty. Raises BaselineError."""
    from ..yaml_text import NotYaml, decode  # slow to import, and other commands do not need it

    try:
        document = decode(text)
    except NotYaml as error:
        raise BaselineError(f"{error.at(path)}: {error}") from None
    for key, kinds, what in (
        ("target", str, "the name of the target"),
        ("rows", list | None, "a list"),
    ):
        if not isinstance(document, dict) or key not in document:
            raise BaselineError(f"{path} is not a baseline: it has no '{key}'")
        if not isinstance(document[key], kinds):
            raise BaselineError(f"{path} is not a baseline: '{key}' is not {what}")
    rows = [
        _row(f"{path}, row {number}", entry)
        for number, entry in enumerate(document["rows"] or [], 1)
    ]
    block = untested.decode(path, document)
    rows += [Row(case, (outcome,), (), outcome.reason) for case, outcome in block.items()]
    twice = names_twice(row.case for row in rows)
    if twice:
        raise BaselineError(f"{path} names more than once: {some(twice)}")
    return Baseline(
        document["target"], rows, str(document.get("date") or ""), **_head(path, document)
    )


def _head(path, document):
    """{key of HEAD_KEYS: value} of those that the document has."""
    found = {key: document[key] for key in HEAD_KEYS if document.get(key) is not None}
    for key, value in found.items():
        kind, what = (int, "a number") if key == "cases" else (str, "a text")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise BaselineError(f"{path} is not a baseline: '{key}' is not {what}")
    return found


def _row(where, entry):
    """The Row of one entry. Each error begins with `where`, the place of the entry."""
    if not isinstance(entry, dict):
        raise BaselineError(f"{where}: a row is a mapping with the keys {', '.join(ROW_KEYS)}")
    case = entry.get("case")
    if isinstance(case, str) and case:
        where += f" ({case})"
    for key in ROW_KEYS:
        if key not in entry:
            raise BaselineError(f"{where}: '{key}' is missing")
    for key in entry:
        if key not in (*ROW_KEYS, OR_KEY):
            raise BaselineError(f"{where}: unknown key '{key}'")
    requirement, note = entry["requirement"], entry["note"]
    names = (requirement,) if isinstance(requirement, str) else requirement
    if not isinstance(names, list | tuple) or not names or not all(map(_is_name, names)):
        raise BaselineError(f"{where}: 'requirement' is the id of a requirement or a list of ids")
    if not _is_name(case):
        raise BaselineError(f"{where}: 'case' is not the id of a case")
    if not isinstance(note, str | None):
        raise BaselineError(f"{where}: 'note' is not a text")
    others = entry.get(OR_KEY, [])
    if not isinstance(others, list):
        raise BaselineError(f"{where}: '{OR_KEY}' is not a list of outcomes")
    first = _outcome(where, {key: entry[key] for key in OUTCOME_KEYS})
    if first.verdict == PASS:
        raise BaselineError(f"{where}: a case that passes has no row")
    outcomes = (first, *(_outcome(f"{where}, below '{OR_KEY}'", each) for each in others))
    return Row(case, outcomes, tuple(names), note or "")


def _is_name(value):
    return isinstance(value, str) and bool(value)


def _outcome(where, entry):
    """An outcome that a row can expect: a pass without a reason, or another verdict with one."""
    if not isinstance(entry, dict) or set(entry) != set(OUTCOME_KEYS):
        raise BaselineError(f"{where}: an outcome has a verdict and a reason, and nothing else")
    verdict, reason = entry["verdict"], entry["reason"]
    if verdict not in VERDICTS:
        raise BaselineError(
            f"{where}: there is no verdict '{verdict}'; a row has one of {', '.join(EXCUSABLE)}"
        )
    if verdict == HARNESS_ERROR:
        raise BaselineError(
            f"{where}: a {HARNESS_ERROR} is a defect of the suite, which no baseline excuses"
        )
    if not isinstance(reason, str | None):
        raise BaselineError(f"{where}: 'reason' is not a text")
    if (verdict == PASS) == bool(reason):
        rule = "a pass has no reason" if reason else f"the verdict {verdict} needs its reason"
        raise BaselineError(f"{where}: {rule}")
    return Outcome(verdict, reason or "")

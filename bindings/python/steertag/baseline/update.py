"""Updates a baseline by reports of the same target, and keeps what humans wrote.

Rows that still hold keep their layout and the comments above them. Rows that change keep their
notes."""

import collections
import dataclasses
import math

import yaml

from . import untested
from .baseline_file import HEAD_KEYS, OR_KEY, OUTCOME_KEYS, ROW_KEYS, Baseline, other_target, parse
from .case_outcome import EXCUSABLE, PASS, Outcome
from .comparison import differences_of
from .error import BaselineError
from .rows_text import RowsText

WIDTH = 100


@dataclasses.dataclass(frozen=True)
class Update:
    """The new text of a baseline file, and the cases whose rows were added, changed or removed.
    `untested`: {case: Outcome} of what is new in that block. `cases` is the number of cases of the run
    if the file had another one, or 0."""

    text: str
    added: list
    changed: list
    removed: list
    untested: dict
    cases: int = 0

    def nothing(self):
        rows = self.added or self.changed or self.removed or self.untested
        return not (rows or self.cases)


def update(path, text, reports, target, today, note="", also=False):
    """The Update of the file `path` by all `reports`. `text` is its content, or "" for a new file.
    `today` becomes its date; `note` is the note of new rows. Versions and the number of cases are kept
    current where the file has them.

    A row stays if it has each outcome seen. It goes if its case passed everywhere or no longer
    exists. Otherwise it gets the outcomes seen; all but the first go below `or`.

    A case that no report could test goes to the block untested if many share the reason.

    `also` only adds, including a pass of cases without a row. It is for targets whose reactions
    depend on timing. Raises BaselineError."""
    present = parse(path, text) if text else Baseline(target, [])
    if present.target != target:
        raise other_target(path, present.target, target)
    seen = _seen(reports)
    keeps_unseen = also or all(report.partial for report in reports)
    rows_text = RowsText(text or _head(target, today, reports))
    listed = {row.case: row for row in present.rows if not row.in_block}
    in_block = {row.case: row for row in present.rows if row.in_block}
    block = _block(in_block, listed, seen, keeps_unseen, also)
    entries, changed, removed = {}, [], []  # entries: new and changed rows
    for case_id, row in listed.items():
        cases = seen.get(case_id, [])
        if case_id in block:
            rows_text.remove(case_id)
        elif _holds(row, cases) or (not cases and keeps_unseen):
            continue
        elif not also and _pass(cases):
            removed.append(case_id)
            rows_text.remove(case_id)
        else:
            changed.append(case_id)
            entries[case_id] = _entry(cases, row, "", also)
            rows_text.replace(case_id, _text(entries[case_id]))
    added = [
        case_id
        for case_id in sorted(seen.keys() - listed.keys() - block.keys())
        if not _pass(seen[case_id]) or (also and case_id in in_block)
    ]
    for case_id in added:
        entries[case_id] = _entry(seen[case_id], in_block.get(case_id), note, also)
        rows_text.add(case_id, _text(entries[case_id]))
    removed += sorted(in_block.keys() - block.keys() - set(added))
    before = {case_id: row.outcomes[0] for case_id, row in in_block.items()}
    if block != before:
        rows_text.set_untested(untested.encode(block))
    new = {case_id: why for case_id, why in block.items() if before.get(case_id) != why}
    about = _about(reports)
    cases = about.get("cases", 0)
    if cases == present.cases or not present.cases:
        cases = 0
    if added or changed or removed or new or cases:
        for key, value in about.items():
            rows_text.replace_value(key, _inline(value))
        rows_text.set_date(today)
    written = rows_text.text()
    gone = {*changed, *removed, *block}
    expected = {key: row for key, row in listed.items() if key not in gone}
    expected |= parse(path, _document(target, list(entries.values()), block)).by_case()
    if not _says(written, target, expected):
        raise BaselineError(
            f"{path}: its layout (an alias, braces around everything) is not one that can be edited; "
            "nothing was written"
        )
    return Update(written, added, changed, removed, new, cases)


def _block(in_block, listed, seen, keeps_unseen, also):
    """The {case: Outcome} of the block untested after the update. A row with a note, or with
    several outcomes, stays a row. With `also` the block gets no cases: those without a row had to
    pass."""
    stays = {key for key, row in listed.items() if row.note.strip() or row.outcomes[1:]}
    outcomes = {key: [case.outcome for case in cases] for key, cases in seen.items()}
    if also:
        stays |= {
            key
            for key in seen
            if key not in in_block or {*outcomes[key]} != {*in_block[key].outcomes}
        }
    present = {key: row.outcomes[0] for key, row in in_block.items()}
    return untested.updated(present, outcomes, keeps_unseen, stays)


def _pass(cases):
    return all(case.outcome.verdict == PASS for case in cases)


def _about(reports):
    """{key of HEAD_KEYS: value} of what the first whole report says of its run."""
    first = next((report for report in reports if not report.partial), None)
    if first is None:
        return {}
    values = (first.software, first.kernel, first.steertag, len(first.cases))
    return {key: value for key, value in zip(HEAD_KEYS, values, strict=True) if value}


def _inline(value):
    """YAML of the value in one line."""
    return yaml.safe_dump([value], allow_unicode=True, width=math.inf)[2:].rstrip("\n")


def _says(text, target, rows):
    """Whether a text decodes to the baseline with these rows, by case."""
    try:
        found = parse("", text)
    except BaselineError:
        return False
    return found.target == target and found.by_case() == rows


def _seen(reports):
    """{case id: [Case of each report that has it]}"""
    seen = collections.defaultdict(list)
    for report in reports:
        for case in report.cases:
            if case.outcome.verdict not in (PASS, *EXCUSABLE):
                raise BaselineError(f"a baseline cannot expect {case.outcome}, as {case.id} gave")
            seen[case.id].append(case)
    return seen


def _holds(row, cases):
    """Whether the row has each outcome seen."""
    return bool(cases) and not any(differences_of(case, row) for case in cases)


def _entry(cases, row, note, also):
    """The new entry of a case, with `note` if it had no `row`. An outcome of the row stays if it
    was seen again, or with `also`."""
    outcomes = list(dict.fromkeys(case.outcome for case in cases))
    before = row.outcomes if row is not None else (Outcome(PASS, ""),)
    if also or (row is not None and set(outcomes) & set(before)):
        outcomes = list(dict.fromkeys((*before, *outcomes)))
    outcomes.sort(key=lambda outcome: outcome.verdict == PASS)
    names = _blamed(cases, outcomes[0], row)
    requirement = names[0] if len(names) == 1 else names
    note = row.note if row is not None and not row.in_block else note
    values = (cases[0].id, outcomes[0].verdict, requirement, outcomes[0].reason, note)
    entry = dict(zip(ROW_KEYS, values, strict=True))
    if outcomes[1:]:
        entry[OR_KEY] = [
            dict(zip(OUTCOME_KEYS, (each.verdict, each.reason), strict=True))
            for each in outcomes[1:]
        ]
    return entry


def _blamed(cases, outcome, row):
    """The requirements of an outcome: those of the row if still right, else those that broke."""
    matching = [case for case in cases if case.outcome == outcome]
    if row is not None and not row.in_block and outcome == row.outcomes[0]:
        if not matching or set(row.requirement) <= set(matching[0].requirements):
            return list(row.requirement)
    first = (matching or cases)[0]
    return list(first.findings or first.requirements)


def _text(entry):
    return yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=WIDTH)


def _document(target, rows, block):
    text = yaml.safe_dump({"target": target, "rows": rows}, allow_unicode=True)
    return text + untested.encode(block)


def _head(target, today, reports):
    entries = {"target": target, "date": today} | _about(reports)
    head = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=math.inf)
    return f"# Expected outcomes other than pass of the target {target}.\n{head}rows: []\n"

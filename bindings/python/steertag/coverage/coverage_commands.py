"""The command `steertag coverage`."""

import collections
import json

from .. import requirements as ledger
from ..atomic_file import write_atomically
from ..baseline import BaselineError, load_report
from ..case_list.kept_list import case_list
from ..failure import Failure
from . import coverage_text, deviation_results
from .coverage_document import document
from .gate import open_rows, problems, unbroken, unbroken_problems
from .matrix import whole_matrix
from .pairs import message_pairs, missing_lines, pair_lines
from .unbroken_cases import case_problems, unbroken_cases

HOW_TO_SETTLE = (
    "A row is settled by a case that names it, in the suite of a side that it binds, or by an exemption "
    "in engine/ledger/requirements/."
)
HOW_TO_BREAK = (
    "A deviation of our own peers (engine/deviations/) should make each case fail. If none can, the row gives "
    "the reason (`unbroken:` in engine/ledger/requirements/), or the case does (`unbroken=`)."
)
UNSETTLED = 1  # the exit status if a row in scope is open, or a pair is missing


def coverage(arguments):
    """Prints the matrix and the open rows."""
    verdicts, target, met = _results(arguments.report)
    if arguments.pairs:
        return _pairs([each.id for each in case_list(arguments.path)], verdicts, met)
    catches = _catches(arguments.deviations)
    matrix = whole_matrix(case_list(arguments.path), verdicts, catches)
    for path, write in ((arguments.json, _json), (arguments.html, _html)):
        if path is not None:
            _write(path, write(matrix, target))
    if not arguments.summary:
        _print(coverage_text.table(matrix))
        print()
    _print(coverage_text.summary(matrix))
    bare = unbroken_cases(matrix)
    if arguments.unbroken_cases:
        print()
        _print(coverage_text.unbroken_cases(bare))
    scope = (arguments.strict, arguments.each_role)
    print(f"\n{len(open_rows(matrix, *scope))} rows that have to be settled are open")
    found = list(problems(matrix, *scope))
    if found:
        print()
        _print(found)
        print(HOW_TO_SETTLE)
    untold = _untold(matrix, bare) if arguments.strict else []
    _print(untold)
    if untold:
        print(HOW_TO_BREAK)
    return UNSETTLED if found or untold else 0


def _pairs(case_ids, verdicts, met):
    """Prints the table of pairs, and each pair that is missing."""
    try:
        rows = message_pairs(case_ids, verdicts, met)
    except ValueError as error:
        raise Failure(f"the report is damaged: {error}") from None
    missing = list(missing_lines(rows))
    _print([*pair_lines(rows), *missing])
    return UNSETTLED if missing else 0


def _untold(matrix, bare):
    """Counts the rows and cases that no deviation breaks, with a sentence for each missing or stale
    reason."""
    sides = collections.Counter(side for _, side in unbroken(matrix))
    counts = " and ".join(f"{sides[side]} of the {side}" for side in ledger.SIDES)
    print(f"\nrows with cases that no deviation breaks: {counts}")
    counts = " and ".join(f"{len(one.claimless)} of the {one.side}" for one in bare)
    print(f"cases that claim no row which a deviation breaks: {counts}")
    return [*unbroken_problems(matrix), *case_problems(bare, matrix.cases)]


def _results(reports):
    """{case id: its worst verdict in the reports}, the targets of the reports, and {case id: the text of the environment
    that it met}."""
    from ..verdict import Verdict

    verdicts, targets, met = {}, [], {}
    try:
        for path in reports:
            report = load_report(path)
            for case in report.cases:
                seen = (case.outcome.verdict, verdicts.get(case.id, case.outcome.verdict))
                verdicts[case.id] = max(seen, key=lambda word: Verdict(word).rank)
                if case.environment:
                    met[case.id] = case.environment
            targets.append(report.name or report.target)
    except BaselineError as error:
        raise Failure(str(error)) from None
    return verdicts, ", ".join(dict.fromkeys(targets)), met


def _catches(paths):
    """{(deviation, requirement): Catch} of all files."""
    try:
        return {key: catch for path in paths for key, catch in deviation_results.read(path)}
    except deviation_results.BadResults as error:
        raise Failure(str(error)) from None


def _json(matrix, target):
    content = document(matrix) | {"target": target}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _html(matrix, target):
    from .coverage_page import page

    return page(document(matrix), target)


def _write(path, content):
    try:
        write_atomically(path, content)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None


def _print(lines):
    for line in lines:
        print(line)

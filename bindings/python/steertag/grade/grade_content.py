"""The content of the page of graded captures."""

import collections
import os
import shlex

from .. import requirements as ledger
from ..files.escape import printable
from ..report_page import shipped_failures
from ..report_page.clause_rows import clause_rows
from ..report_page.run_metadata import metadata_facts
from ..report_page.trace_lines import page_lines
from ..traces.field_words import handle_words
from ..verdict import Verdict
from .file_lines import summary_of
from .finding_lines import FindingLines
from .folded import folded
from .grade_text import error, file_name, totals, unjudged
from .small_file import is_small

# Findings of one kind, and kinds, that the page has. More of a kind show nothing new; the JSON has all.
MOST_OF_A_KIND, MOST_KINDS = 50, 500


def grade_content(files, metadata, folder, decoded=True):
    """The content for report_page.page, as that of a run (report_page/run_content.py): a finding is a case, and what
    is broken in one way is a cause. `files` are [(Graded, rows that are shown)]; the page will be in `folder`.
    `decoded`: the messages have today's header."""
    cases, causes, warnings = [], [], []
    for graded, rows in files:
        folds = folded(rows)[:MOST_KINDS]
        listed = [row for fold in folds for row in fold.rows[:MOST_OF_A_KIND]]
        lines = FindingLines(graded, listed) if decoded and is_small(graded.path) else None
        for fold in folds:
            kind = {Verdict.FAIL: causes, Verdict.WARN: warnings}.get(fold.first.verdict)
            if kind is not None:
                kind.append(_cause(fold, len(kind) + 1, len(cases)))
            made = [_case(row, graded, lines, folder) for row in fold.rows[:MOST_OF_A_KIND]]
            cases += made
    named = list(dict.fromkeys(each for case in cases for each in case["about"]))
    others = shipped_failures.by_requirement(named)
    for case in cases:
        case["others"] = [each for name in case["about"] for each in others.get(name, ())]
    shown = collections.Counter(row.verdict for _, rows in files for row in rows)
    return {
        "title": f"Steertag: {_title([graded for graded, _ in files])}",
        "facts": [*_facts(files), *metadata_facts(metadata)],
        "alerts": list(_alerts(files)),
        "totals": [[verdict.value, shown[verdict]] for verdict in Verdict if shown[verdict]],
        "noun": "finding",
        "topic": "File",
        "sentence": "rule",
        "causes": causes,
        "warnings": warnings,
        "cases": cases,
        "clauses": clause_rows(named),
    }


def _title(files):
    return file_name(files[0]) if len(files) == 1 else f"{len(files)} captures"


def _facts(files):
    for graded, _ in files:
        for line in totals(graded):
            yield "capture", line
        for one in graded.connections[:MOST_OF_A_KIND]:
            ends = f"{one.client_end} (client), {one.server_end} (server)"
            yield f"connection {one.number}", printable(f"{one.fabric}, {ends}")
        for one in graded.files[:MOST_OF_A_KIND]:
            yield f"file {handle_words(one.handle)}", "; ".join(map(" ".join, summary_of(one)))


def _alerts(files):
    for graded, _ in files:
        problem = error(graded)
        if problem is not None:
            yield problem
        unread = " ".join(line.strip() for line in unjudged(graded))
        if unread:
            yield unread


def _cause(fold, number, place):
    """`place` is that of its first case."""
    first = fold.first
    places = list(range(place, place + min(len(fold.rows), MOST_OF_A_KIND)))
    return {
        "number": number,
        "headline": f"the {first.culprit} breaks {ledger.clause(first.requirement.id)}",
        "requirement": first.requirement.id,
        "verdicts": [[first.verdict.value, len(fold.rows)]],
        "count": len(fold.rows),
        "cases": places,
        "example": place,
        "follows": [],
        "after": [],
        "perhaps": None,
        "others": [],
    }


def _case(row, graded, lines, folder):
    name = file_name(graded)
    trace = [] if lines is None else [line.row() for line in lines.around(row)]
    return {
        "id": f"{name}, connection {row.connection}, frame {row.frame}: {row.requirement.id}",
        "side": row.culprit,
        "topic": name,
        "sentence": row.sentence,
        "verdict": row.verdict.value,
        "reason": f"by the {row.culprit}",
        "requirements": [],
        "about": [row.requirement.id],
        "seen": printable(row.observed),
        "expected": printable(row.expected),
        "files": list(_files(graded.path, folder)),
        "commands": [
            ["octets", f"steertag grade -v {shlex.quote(name)}"],
            ["frame", f"tshark -V -r {shlex.quote(name)} -Y 'frame.number == {row.frame}'"],
            ["explained", f"steertag explain {row.requirement.id}"],
        ],
        "trace": page_lines(trace),
    }


def _files(path, folder):
    """[label, path below the page's folder], unless the name is no text."""
    if path == "-":
        return
    relative = os.path.relpath(path, folder)
    try:
        relative.encode()
    except UnicodeEncodeError:
        return
    yield "capture", relative

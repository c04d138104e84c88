"""The differences of two targets as text, with cases that changed alike folded into one entry."""

import textwrap

from ..files.escape import printable
from .case_list import topics
from .difference import KINDS
from .matrix_text import WIDTH, head


def lines(targets, comparison, every=False):
    """All lines. `every`: with the id of each case."""
    yield from head(targets)
    for kind in KINDS:
        changes = [change for change in comparison.changes if change.kind == kind]
        if changes:
            yield ""
            yield f"{kind}: {len(changes)} case{'s' * (len(changes) > 1)}"
            for (before, after), cases in _folded(changes).items():
                yield from _entry(before, after, cases, every)
    yield ""
    yield summary(comparison)


def summary(comparison):
    """The number of cases of each kind, in one line."""
    kinds = [change.kind for change in comparison.changes]
    counts = [f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds]
    counts.append(f"{comparison.same} the same")
    if comparison.skipped:
        counts.append(f"{comparison.skipped} not compared, as a part of the suite was run")
    return f"{'the same' if not comparison.changes else 'differ'}: {', '.join(counts)}"


def _folded(changes):
    """{(text before, text after): its cases}, the most cases first."""
    found = {}
    for change in changes:
        found.setdefault((_said(change.before), _said(change.after)), []).append(change.case)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _said(result):
    """The outcomes of a result with the note, as lines."""
    if result is None:
        return ()
    said = [str(outcome) for outcome in result.outcomes]
    return (" or ".join(said), result.note) if result.note else (" or ".join(said),)


def _entry(before, after, cases, every):
    named = sorted(cases) if every else topics(cases)
    for line in (
        named if every else textwrap.wrap(", ".join(named), WIDTH - 2, break_on_hyphens=False)
    ):
        yield f"  {printable(line)}"
    for word, said in (("was", before), ("is", after)):
        for number, text in enumerate(said):
            mark = word if number == 0 else ""
            yield from textwrap.wrap(
                printable(text),
                WIDTH,
                initial_indent=f"    {mark:<4}",
                subsequent_indent=" " * 10,
                break_on_hyphens=False,
            )

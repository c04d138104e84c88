"""Differences from a baseline, folded: the cases that differ in the same way for the same cause."""

import dataclasses

from ..causes import normalised
from ..files.escape import harmless

# Cases that are named; the rest is counted.
MOST_NAMED = 3


@dataclasses.dataclass(frozen=True)
class FoldedDifference:
    """`differences` are of one kind; the first is the example."""

    differences: tuple

    def lines(self, width, clauses):
        """`width`: characters of the column with the kind. `clauses`: {requirement id: sentence}."""
        first = self.differences[0]
        yield f"{first.kind:<{width}}  {self._cases()}"
        rows = [("expected", first.expected), ("seen", first.seen)]
        if first.cause is not None and first.cause[1] in clauses:
            rows.append(("breaks", clauses[first.cause[1]]))
        for label, text in rows:
            yield f"{'':<{width}}  {label:<8}  {harmless(text)}"

    def _cases(self):
        names = [harmless(one.case) for one in self.differences[:MOST_NAMED]]
        if len(self.differences) == 1:
            return names[0]
        more = len(self.differences) - MOST_NAMED
        rest = f", and {more:,} more" if more > 0 else ""
        return f"{len(self.differences):,} cases: {', '.join(names)}{rest}"


def fold_differences(differences):
    """[FoldedDifference]: kinds in their order, of each kind the most frequent first."""
    groups, kinds = {}, {}
    for one in differences:
        kinds.setdefault(one.kind, len(kinds))
        groups.setdefault(_key(one), []).append(one)
    ordered = sorted(groups.values(), key=lambda each: (kinds[each[0].kind], -len(each)))
    return [FoldedDifference(tuple(group)) for group in ordered]


def _key(one):
    if one.cause is not None:
        return one.kind, one.cause, one.seen.partition(":")[0]
    return one.kind, normalised(one.expected), normalised(one.seen)

"""Folds findings that repeat: one rule broken by one side in one way, wherever in the file."""

import re

_NUMBER = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)
# Frames named in a line; the JSON has all.
MOST_FRAMES = 12


class Fold:
    """The findings of one kind, in the order of their frames; `first` stands for them."""

    def __init__(self):
        self.rows = []

    @property
    def first(self):
        return self.rows[0]

    @property
    def repeated(self):
        return len(self.rows) > 1

    def frames(self, operation_of=None):
        """ "12 times: frames 71, 80, ... of connection 1; 95 of connection 2". `operation_of`: the name of
        a finding's operation, as "READ", or "", which then leads its frames."""
        groups = {}
        for row in self.rows:
            operation = operation_of(row) if operation_of is not None else ""
            groups.setdefault((operation, row.connection), []).append(row.frame)
        left, parts = MOST_FRAMES, []
        for (operation, connection), frames in groups.items():
            named = list(dict.fromkeys(frames))
            if left <= 0:
                break
            shown = ", ".join(map(str, named[:left]))
            more = ", ..." if len(named) > left else ""
            left -= len(named)
            word = "frame" if len(named) == 1 else "frames"
            name = f"{operation}: " if operation else ""
            parts.append(f"{name}{word} {shown}{more} of connection {connection}")
        if left < 0 or len(parts) < len(groups):
            parts.append("--json lists all")
        return f"{len(self.rows)} times: {'; '.join(parts)}"


def folded(rows):
    """The Folds of the rows, by their first frame. Numbers in `expected` and `observed` do not count: an XID or
    an STag differs each time."""
    folds = {}
    for row in rows:
        kind = (
            row.culprit,
            row.requirement.id,
            row.rule,
            _NUMBER.sub("N", row.expected),
            _NUMBER.sub("N", row.observed),
        )
        folds.setdefault(kind, Fold()).rows.append(row)
    return list(folds.values())

"""The table of a gate over several targets: one row for each target and version, with its counts."""

from __future__ import annotations

import dataclasses

PASSED = "ok"


@dataclasses.dataclass(frozen=True)
class Row:
    """`version` is `suite`, or the version and storage of a workload. `outcome` is `ok` or says what
    differs. `unseen` are cases that differed once and not again. `kernel` is the version of the package that
    was booted; `other_kernel` is a sentence if the rows are of another one."""

    target: str
    version: str
    counts: dict[str, int]
    outcome: str
    unseen: tuple[str, ...] = ()
    kernel: str = ""
    other_kernel: str = ""


def passed(rows: list[Row]) -> bool:
    """Whether there is something and all of it is as expected."""
    return bool(rows) and all(row.outcome == PASSED for row in rows)


def text(rows: list[Row]) -> str:
    """The table, with a column for each verdict that was seen. Below it: what differed once only, warnings
    of other kernels, and a line with the outcome."""
    verdicts = list(dict.fromkeys(verdict for row in rows for verdict in row.counts))
    lines = [["target", "kernel", "version", *verdicts, "outcome"]]
    for row in rows:
        counts = [str(row.counts.get(verdict, "")) for verdict in verdicts]
        lines.append([row.target, row.kernel or "-", row.version, *counts, row.outcome])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    last = len(widths) - 1
    shown = []
    for line in lines:
        cells = [
            # Counts are numbers: their last digits are one below the other.
            cell.rjust(width) if 2 < index < last else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        shown.append("  ".join(cells).rstrip())
    shown += [f"not seen again: {row.target}: {case}" for row in rows for case in row.unseen]
    shown += [f"warning: {row.target}: {row.other_kernel}" for row in rows if row.other_kernel]
    bad = sum(row.outcome != PASSED for row in rows)
    return "\n".join([*shown, "", f"gate: {len(rows)} rows, {bad} not as expected"])

"""The cases of a report with verdict and reason, without what differs from run to run."""

import difflib
import json
import pathlib

# These need packets as they were made, and do not run over a network with faults.
EXACT_PACKETS = (".roce.", ".direct.reads-beyond-depth")


def lines(report, leave_out=()):
    """A line for each case of the report in a folder, but for those with a part of `leave_out` in their names."""
    for row in json.loads((pathlib.Path(report) / "report.json").read_text())["cases"]:
        if not any(part in row["id"] for part in leave_out):
            yield f"{row['verdict']} {row['id']} {row['reason']}"


def differences(before, now):
    """What differs between the lines of two runs, as a diff; empty if nothing does."""
    return list(difflib.unified_diff(before, now, "before", "now", n=0, lineterm=""))

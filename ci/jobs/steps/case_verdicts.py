"""The cases of a report with verdict and reason, without what differs from run to run."""

import json
import pathlib


def lines(report, leave_out=()):
    """A line for each case of the report in a folder, but for those with a part of `leave_out` in their names."""
    for row in json.loads((pathlib.Path(report) / "report.json").read_text())["cases"]:
        if not any(part in row["id"] for part in leave_out):
            yield f"{row['verdict']} {row['id']} {row['reason']}"

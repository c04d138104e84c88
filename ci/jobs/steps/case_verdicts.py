"""The cases of a report with verdict and reason, without what differs from run to run."""

import json
import pathlib


def lines(report, leave_out=None):
    """A line for each case of the report in a folder, but for those with `leave_out` in their names."""
    for row in json.loads((pathlib.Path(report) / "report.json").read_text())["cases"]:
        if leave_out is None or leave_out not in row["id"]:
            yield f"{row['verdict']} {row['id']} {row['reason']}"

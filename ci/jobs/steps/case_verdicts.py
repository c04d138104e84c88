"""Prints every case of a report with its verdict and the reason, without what differs from run to run."""

import json
import pathlib
import sys


def lines(report):
    """A line for each case of the report in a folder."""
    for row in json.loads((pathlib.Path(report) / "report.json").read_text())["cases"]:
        yield f"{row['verdict']} {row['id']} {row['reason']}"


if __name__ == "__main__":
    print("\n".join(lines(sys.argv[1])))

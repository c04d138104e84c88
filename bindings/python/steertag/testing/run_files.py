"""Reports and baselines as tests write them."""

import json

import yaml

from steertag.baseline.baseline_file import ROW_KEYS


def entry(case, verdict="pass", reason="", requirements=("RFC8166-4.5.1-1",), findings=()):
    """One case of a report."""
    found = [{"id": name, "text": "what was seen"} for name in findings]
    values = {"id": case, "verdict": verdict, "reason": reason, "findings": found}
    return values | {"requirements": list(requirements)}


def row(
    case, verdict="fail", requirement="RFC8166-4.5.1-1", reason="saw silence", note="Drops it."
):
    """One row of a baseline."""
    return dict(zip(ROW_KEYS, (case, verdict, requirement, reason, note), strict=True))


def write_report(path, entries, **head):
    """The path of a report with these cases."""
    content = {"steertag": "0.1.0", "target": "iwarp://host", "cases": entries} | head
    path.write_text(json.dumps(content))
    return path


def write_baseline(path, rows, target="some-target", **head):
    """The path of a baseline with these rows."""
    path.write_text(yaml.safe_dump({"target": target} | head | {"rows": rows}))
    return path

"""The summary as a Code Quality report of GitLab: a merge request shows what is new and what is gone."""

import hashlib
import json

from ..causes.digest import counted
from .item import ERROR, WARNING

# GitLab links each entry to a line of a file. Without a baseline that is the file that runs the suite.
WITHOUT_BASELINE = (".gitlab-ci.yml", 1)
_SEVERITIES = {ERROR: "critical", WARNING: "minor"}


def text(summary):
    """The JSON text."""
    return json.dumps([_entry(item) for item in summary.items], indent=1) + "\n"


def _entry(item):
    path, line = item.place or WITHOUT_BASELINE
    cases = f"{counted(len(item.cases), 'case')}: " if item.cases else ""
    return {
        "description": f"{cases}{item.sentence}",
        "check_name": "steertag",
        "fingerprint": hashlib.sha256(repr(item.key).encode()).hexdigest(),
        "severity": _SEVERITIES[item.level],
        "location": {"path": path, "lines": {"begin": line}},
    }

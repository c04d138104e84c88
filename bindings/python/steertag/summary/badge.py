"""The summary as a badge: JSON for the endpoint of shields.io."""

import json

LABEL = "NFS/RDMA"
# A badge is one short line.
MOST_CHARACTERS = 60


def text(summary):
    """The JSON text."""
    words = summary.result
    if len(words) > MOST_CHARACTERS:
        words = f"{words[: MOST_CHARACTERS - 4]} ..."
    badge = {"schemaVersion": 1, "label": LABEL, "message": words, "color": _colour(summary)}
    return json.dumps(badge, indent=1) + "\n"


def _colour(summary):
    if not summary.counts:
        return "lightgrey"
    if summary.is_failed:
        return "red"
    return "yellow" if summary.items else "brightgreen"

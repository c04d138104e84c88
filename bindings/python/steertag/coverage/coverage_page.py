"""The matrix as one HTML page, without a server and without network access."""

import pathlib

from .. import html_page
from .matrix import STATES

FOLDER = pathlib.Path(__file__).parent
TEMPLATE = "coverage.html"
GOOD = ("pass", "latitude")
BAD = ("fail", "crash", "hang", "harness-error")


def page(document, target):
    """The page for a document of coverage_document. `target` names the source of the results, if
    any."""
    environment = html_page.environment(FOLDER)
    environment.filters["tone"] = tone
    rows = document["requirements"]
    return environment.get_template(TEMPLATE).render(
        document=document,
        target=target,
        states=STATES,
        levels=list(dict.fromkeys(row["level"] for row in rows)),
        roles=list(dict.fromkeys(row["role"] for row in rows)),
    )


def tone(verdict):
    """The tone of a verdict: good, bad, or other."""
    if verdict in GOOD:
        return "good"
    return "bad" if verdict in BAD else "other"

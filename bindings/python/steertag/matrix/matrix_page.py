"""The matrix as one HTML page, without a server and without network access."""

import pathlib

from .. import __version__, html_page
from ..baseline import PASS
from .clause import link, sentence
from .table import REQUIREMENT, by_side, rows
from .target import WORST_FIRST

FOLDER = pathlib.Path(__file__).parent
TEMPLATE = "matrix.html"
_TONES = {PASS: "good", "latitude": "good", "fail": "bad", "hang": "bad", "crash": "bad"}
_TONES["harness-error"] = "bad"


def page(targets, by=REQUIREMENT, differences=False):
    """The page. `differences`: only rows in which the targets differ."""
    environment = html_page.environment(FOLDER)
    environment.filters |= {"tone": tone, "sentence": sentence, "clause": link}
    tables = []
    for side, columns in by_side(targets):
        found = [row for row in rows(columns, by, side) if row.differs() or not differences]
        tables.append({"side": side, "targets": columns, "rows": found})
    worst = {cell.worst for each in tables for row in each["rows"] for cell in row.cells if cell}
    return environment.get_template(TEMPLATE).render(
        steertag=__version__,
        tables=tables,
        by=by,
        differences=differences,
        requirement=REQUIREMENT,
        verdicts=[verdict for verdict in WORST_FIRST if verdict in worst],
        passing=PASS,
    )


def tone(verdict):
    """The tone of a verdict: good, bad, or other."""
    return _TONES.get(verdict, "other")

"""What a comparison has to reach, beside what it has reached."""

from ci.jobs.bench_nfs import figures
from steertag.matrix.matrix_markdown import table


def floor(what, bound, ratio, met):
    """A row of the table: a figures.Value and whether it is within its bound."""
    verdict = "met" if met else "missed"
    if ratio.spread > figures.NO_RESULT:
        verdict += ", but the rounds differ too much"
    return what, bound, ratio.text(2), verdict


def at_least(what, least, ratio):
    return floor(what, f"at least {least}", ratio, ratio.median >= least)


def at_most(what, most, ratio):
    return floor(what, f"at most {most}", ratio, ratio.median <= most)


def floors_table(rows):
    return table(["what", "floor", "this run", ""], rows)

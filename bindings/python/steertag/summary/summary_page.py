"""The summary as a page in Markdown: causes first, and no word of the target is markup."""

import re

from ..causes.digest import counted
from .item import WARNING
from .run_summary import untested_lines

# GitHub takes 1 MiB of a step (GITHUB_STEP_SUMMARY), to which others of the step may write too.
MOST_OCTETS = 512 << 10
# Items with their details, and items in one line: more than a reader looks at.
MOST_IN_FULL, MOST_IN_A_LINE = 20, 100
# Cases named of an item.
MOST_NAMED = 10
# Reasons of cases that were not tested.
MOST_UNTESTED = 10
_SPECIAL = re.compile(r"([\\`*_<>\[\]&~|$])")
_PLAIN = re.compile("[A-Za-z0-9 ,]+")
_MARKS = {WARNING: "warning: "}
_LABELS = {"target": "target", "name": "name", "software": "version", "steertag": "Steertag"}


def text(summary):
    """The page as one text."""
    return "\n".join(_capped(_lines(summary))) + "\n"


def _lines(summary):
    plain = _PLAIN.fullmatch(summary.result)
    yield f"## Steertag: {summary.result if plain else _code(summary.result)}"
    yield from _block(_head(summary))
    for number, item in enumerate(summary.items[:MOST_IN_FULL], start=1):
        yield from ("", f"### {_title(number, item)}")
        yield from _block(item.details)
        if item.cases:
            yield from ("", _cases(item.cases))
    later = summary.items[MOST_IN_FULL:]
    if later:
        yield ""
    for number, item in enumerate(later[:MOST_IN_A_LINE], start=MOST_IN_FULL + 1):
        yield _title(number, item)
    if len(later) > MOST_IN_A_LINE:
        yield from ("", f"{len(later) - MOST_IN_A_LINE:,} more, which `steertag causes` shows")
    if summary.untested:
        yield from ("", "### Not tested")
        yield from _block(list(untested_lines(summary.untested))[:MOST_UNTESTED])


def _head(summary):
    """What was tested, and the number of cases of each verdict."""
    for key, label in _LABELS.items():
        if summary.head.get(key):
            yield f"{label:<9} {summary.head[key]}"
    if summary.counts:
        part = " (a part of the suite)" if summary.is_partial else ""
        counts = ", ".join(f"{count:,} {verdict}" for verdict, count in summary.counts.items())
        yield f"{'cases':<9} {counts}{part}"


def _title(number, item):
    sentence = _escaped(item.sentence) if item.is_ledgers else _code(item.sentence)
    cases = f"{counted(len(item.cases), 'case')}: " if item.cases else ""
    return f"{number}. {_MARKS.get(item.level, '')}{cases}{sentence}"


def _cases(cases):
    named = ", ".join(map(_code, cases[:MOST_NAMED]))
    more = len(cases) - MOST_NAMED
    return f"{named}, and {more:,} more" if more > 0 else named


def _block(lines):
    """Indented code behind an empty line: no line of it can end it."""
    for number, line in enumerate(lines):
        if number == 0:
            yield ""
        yield f"    {line}"


def _escaped(words):
    """Words of the ledger as Markdown that shows them as they are."""
    return _SPECIAL.sub(r"\\\1", words)


def _code(words):
    """A code span with longer backquotes than the words have. In it nothing is markup, a link or a mention."""
    if not words.strip():
        return ""
    longest = max(map(len, re.findall("`+", words)), default=0)
    space = " " if longest or words != words.strip() else ""
    return f"{'`' * (longest + 1)}{space}{words}{space}{'`' * (longest + 1)}"


def _capped(lines):
    """The first lines, up to MOST_OCTETS."""
    end = "*The rest is left out: the page is at its limit.*"
    left = MOST_OCTETS - len(end) - 3
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            yield from ("", end)
            return
        yield line

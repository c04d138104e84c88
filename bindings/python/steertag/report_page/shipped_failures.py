"""Which shipped baselines break the same requirement in the same case, or anywhere."""

import re

import yaml

from ..baseline import shipped
from ..causes.cause_key import split_reason
from ..causes.digest import counted
from ..yaml_text import FastLoader

# Verdicts that say what a target does wrong.
_WRONG = ("fail", "warn", "crash", "hang")
# Those whose reason is how the target ended.
_ENDS = ("crash", "hang")
# Our own peers say nothing about others.
_OURS = "steertag-"
# Rows and the keys beside them begin at the start of a line; inside is all indented.
_PART = re.compile(r"^(?=\S)", re.MULTILINE)
_ROW = "- "
# What a row is about, seen without decoding it: decoding all rows takes longer than a short run.
_CASE = re.compile(r"\bcase: (\S+)")
_BROKEN = re.compile(r"""\breason: ['"]?([\w.-]+): """)


def by_case(failures):
    """{case id: [[target, verdict, note]]} of the targets that fail a case in the same way.

    They break one of the requirements, or crash or hang too. `failures` are {case id: (verdict, requirement ids)}.
    """
    found = {}
    for target, row in _rows(_CASE, set(failures)):
        verdict, ids = failures.get(row["case"], ("", ()))
        broken = {split_reason(part)[0] for part in row["reason"].split("; ")}
        if not broken.isdisjoint(ids) or (verdict in _ENDS and verdict == row["verdict"]):
            found.setdefault(row["case"], []).append([target, row["verdict"], row["note"]])
    return found


def by_requirement(ids):
    """{requirement id: [[target, "3 cases", note of the first]]}"""
    wanted, notes = set(ids), {}
    for target, row in _rows(_BROKEN, wanted):
        broken = row["reason"].partition(": ")[0]
        if broken in wanted:
            notes.setdefault((broken, target), []).append(row["note"])
    found = {}
    for (broken, target), said in notes.items():
        found.setdefault(broken, []).append([target, counted(len(said), "case"), said[0]])
    return found


def _rows(pattern, wanted):
    """(target, row) of what goes wrong, of the rows in which the pattern finds something wanted."""
    paths = shipped.baselines()
    for target in sorted(paths, key=shipped.reading_order):
        text = "" if target.startswith(_OURS) else paths[target].read_text(encoding="utf-8")
        rows = (part for part in _PART.split(text) if part.startswith(_ROW))
        found = "".join(row for row in rows if not wanted.isdisjoint(pattern.findall(row)))
        for row in yaml.load(found, FastLoader) or ():
            if row["verdict"] in _WRONG:
                yield target, row

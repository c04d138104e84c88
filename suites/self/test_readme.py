"""What the README says of Linux: its tables of findings against the baselines, which are compared with runs."""

import fnmatch
import functools
import pathlib
import re

import pytest
import yaml

PROJECT = pathlib.Path(__file__).resolve().parents[2]
HEADS = {"| what the kernel does |": "server", "| what both kernels do |": "client"}
ID = re.compile(r"\b[A-Z]+\d+-[\w.]+-\d+\b")
FOUND = ("fail", "warn", "crash", "hang")
# What is fixed in the paragraph before a table or in a row of it; otherwise it is about all that there are.
KERNEL = re.compile(r"Linux (6\.\d+)\b")
VERSION = re.compile(r"NFS version (\d(?:\.\d)?)\b")


def tables(text):
    """(side, the paragraph before, [row of the table]) of each table of findings; a row is its cells."""
    paragraphs = re.split(r"\n\s*\n", text)
    for before, paragraph in zip(paragraphs, paragraphs[1:]):
        side = next((side for head, side in HEADS.items() if paragraph.startswith(head)), None)
        if side is not None:
            lines = paragraph.splitlines()[2:]
            yield side, before, [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def findings():
    """(side, kernel or "", version of NFS or "", ids, patterns of cases) of each row."""
    for side, before, rows in tables((PROJECT / "README.md").read_text(encoding="utf-8")):
        kernel = KERNEL.findall(before)[-1] if side == "server" else ""
        for what, requirements, cases in rows:
            version = (VERSION.findall(what) or [""])[0]
            yield side, kernel, version, ID.findall(requirements), re.findall("`([^`]+)`", cases)


def baselines(side, kernel, version):
    """{name: {case: row}} of the baselines over siw that a finding is about."""
    name = (
        f"linux-{kernel or '*'}-siw"
        if side == "server"
        else f"client-linux-*-siw-v{version or '*'}"
    )
    paths = sorted((PROJECT / "fixtures" / "baselines").glob(f"{name}.yaml"))
    return {path.stem: load(path) for path in paths}


@functools.cache
def load(path):
    """{case: row} of a baseline."""
    document = yaml.load(
        path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    return {row["case"]: row for row in document["rows"]}


def blamed(row):
    """The ids that a row blames; where the target did not live to show which, all that the case claims."""
    named = row["requirement"]
    return set(ID.findall(row["reason"])) or set([named] if isinstance(named, str) else named)


FINDINGS = list(findings())


def test_there_are_findings_of_both_sides():
    assert {side for side, *_ in FINDINGS} == {"server", "client"}
    assert all(ids and patterns for *_, ids, patterns in FINDINGS)


@pytest.mark.parametrize(
    "side, kernel, version, ids, patterns", FINDINGS, ids=[each[4][0] for each in FINDINGS]
)
def test_a_finding_is_what_the_baselines_say(side, kernel, version, ids, patterns):
    """Each case that is named fails in each baseline, blames what the README says, and each requirement
    that the README names is blamed."""
    targets = baselines(side, kernel, version)
    assert targets, f"no baseline of {side}, {kernel}, {version}"
    for name, rows in targets.items():
        seen = set()
        for pattern in patterns:
            cases = fnmatch.filter(rows, f"{side}.{pattern}")
            found = {case: blamed(rows[case]) for case in cases if rows[case]["verdict"] in FOUND}
            assert found, f"{name}: no case fails that is called {side}.{pattern}"
            of_pattern = set().union(*found.values())
            assert of_pattern & set(ids), f"{name}: {pattern} blames {sorted(of_pattern)}"
            seen |= of_pattern
        assert set(ids) <= seen, f"{name}: nothing blames {sorted(set(ids) - seen)}"

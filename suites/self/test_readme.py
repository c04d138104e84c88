"""The pages for users: findings of Linux against the baselines, links, and the commands in examples."""

import fnmatch
import functools
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PAGES = (PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md")))
PAGE_IDS = [str(page.relative_to(PROJECT)) for page in PAGES]
HEADS = {"| what the kernel does |": "server", "| what both kernels do |": "client"}
ID = re.compile(r"\b[A-Z]+\d+-[\w.]+-\d+\b")
FOUND = ("fail", "warn", "crash", "hang")
# What is fixed in the paragraph before a table or in a row of it; otherwise it is about all that there are.
KERNEL = re.compile(r"Linux (6\.\d+)\b")
VERSION = re.compile(r"NFS version (\d(?:\.\d)?)\b")
COMMAND = re.compile(r"build/venv/bin/(steertag (?:baseline )?[a-z]+|pytest)\b")


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
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    for side, before, rows in (table for text in texts for table in tables(text)):
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
    """Each named case fails in each baseline and blames what the page says. Each named requirement is
    blamed."""
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


@pytest.mark.parametrize("page", PAGES, ids=PAGE_IDS)
def test_a_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_the_readme_links_every_page():
    linked = set(re.findall(r"\]\((docs/[^)#]+\.md)\)", PAGES[0].read_text(encoding="utf-8")))
    assert linked == set(PAGE_IDS[1:])


def commands():
    """{command: its options} of the examples, which are indented lines."""
    found = {}
    for page in PAGES:
        for line in re.findall(r"^    (\S.*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            command = COMMAND.match(line)
            if command:
                options = re.findall(r"(?<!\S)\[?(--[a-z-]+)", line)
                found.setdefault(" ".join(command[1].split()), set()).update(options)
    return found


@functools.cache
def help_of(command):
    """What the program prints of its options."""
    program, *words = command.split()
    if program == "steertag":
        words.insert(0, "steertag.cli")
    else:
        words = ["pytest"]
    done = subprocess.run(
        [sys.executable, "-m", *words, "--help"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout


@pytest.mark.parametrize("command, options", commands().items(), ids=list(commands()))
def test_a_command_has_the_options_of_its_examples(command, options):
    text = help_of(command)
    assert text
    assert not [option for option in options if not re.search(rf"{option}\b(?!-)", text)]

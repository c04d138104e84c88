"""The pages for users: what they say of results against the baselines, links, and the commands in examples."""

import collections
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
RESULTS = sorted((PROJECT / "docs" / "results").glob("*.md"))
BASELINES = PROJECT / "fixtures" / "baselines"
HEAD = "| what the kernel does |"  # of a table of findings
ID = re.compile(r"\b[A-Z]+\d+-[\w.]+-\d+\b")
FOUND = ("fail", "warn", "crash", "hang")
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
KERNEL = re.compile(r"Linux (6\.\d+)\b")  # in the paragraph before a table
COMMAND = re.compile(r"build/venv/bin/(steertag (?:baseline )?[a-z]+|pytest)\b")


def findings():
    """(kernel, ids, patterns of cases) of each row of a table of findings."""
    for page in PAGES:
        paragraphs = re.split(r"\n\s*\n", page.read_text(encoding="utf-8"))
        for before, paragraph in zip(paragraphs, paragraphs[1:]):
            for line in paragraph.splitlines()[2:] if paragraph.startswith(HEAD) else ():
                _, requirements, cases = [cell.strip() for cell in line.split("|")[1:-1]]
                patterns = re.findall("`([^`]+)`", cases)
                yield KERNEL.findall(before)[-1], ID.findall(requirements), patterns


@functools.cache
def load(path):
    """The content of a baseline."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)


def blamed(row):
    """The ids that a row blames; where the target did not live to show which, all that the case claims."""
    named = row["requirement"]
    return set(ID.findall(row["reason"])) or set([named] if isinstance(named, str) else named)


FINDINGS = list(findings())


def test_the_readme_has_findings():
    assert FINDINGS
    assert all(ids and patterns for *_, ids, patterns in FINDINGS)


@pytest.mark.parametrize("kernel, ids, patterns", FINDINGS, ids=[each[2][0] for each in FINDINGS])
def test_a_finding_is_what_the_baseline_says(kernel, ids, patterns):
    """Each named case fails in the baseline over siw and blames what the page says. Each named
    requirement is blamed."""
    rows = load(BASELINES / f"linux-{kernel}-siw.yaml")["rows"]
    rows = {row["case"]: row for row in rows}
    seen = set()
    for pattern in patterns:
        cases = fnmatch.filter(rows, f"server.{pattern}")
        found = {case: blamed(rows[case]) for case in cases if rows[case]["verdict"] in FOUND}
        assert found, f"no case fails that is called server.{pattern}"
        of_pattern = set().union(*found.values())
        assert of_pattern & set(ids), f"{pattern} blames {sorted(of_pattern)}"
        seen |= of_pattern
    assert set(ids) <= seen, f"nothing blames {sorted(set(ids) - seen)}"


def verdicts(name):
    """{verdict: number of cases} of a baseline, without the passes."""
    return collections.Counter(row["verdict"] for row in load(BASELINES / f"{name}.yaml")["rows"])


def test_the_readme_counts_what_our_peers_do_not_pass():
    """`ci/check baselines` holds the baselines of our peers against the suites."""
    text = PAGES[0].read_text(encoding="utf-8")
    (word,) = re.findall(
        r"\| the bundled server \| all \| passes all but (\w+), of NFSACL and RPCSEC_GSS, which it lacks; "
        r"a few with latitude;",
        text,
    )
    server = verdicts("steertag-server")
    assert server.pop("unsupported") == NUMBERS.index(word)
    assert set(server) == {"latitude"} and server["latitude"] < 30
    assert "| our client | all | passes all, a few with latitude; " in text
    client = verdicts("steertag-client-v4.1")
    assert set(client) == {"latitude"} and client["latitude"] < 30


def test_the_kernels_are_those_of_the_baselines():
    text = (PROJECT / "docs" / "linux.md").read_text(encoding="utf-8")
    (versions,) = re.findall(r"Debian's kernels (\S+) and (\S+) in virtual machines", text)
    heads = [load(path)["software"] for path in BASELINES.glob("*linux*.yaml")]
    assert {re.match(r"Linux (\S+) ", head)[1] for head in heads} == set(versions)


def test_the_example_of_a_diff_is_what_it_prints():
    text = (PROJECT / "docs" / "linux.md").read_text(encoding="utf-8")
    command, example = re.search(
        r"^    build/venv/bin/steertag (diff .*)\n\n((?:    .*\n)+)", text, re.MULTILINE
    ).groups()
    done = subprocess.run(
        [sys.executable, "-m", "steertag.cli", *command.split()],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    expected = "".join(line[4:] for line in example.splitlines(keepends=True))
    for part in filter(str.strip, expected.split("...\n")):
        assert f"\n{part}" in done.stdout


@pytest.mark.parametrize("page", [*PAGES, *RESULTS], ids=lambda page: page.name)
def test_a_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_the_readme_links_every_page():
    linked = set(re.findall(r"\]\((docs/[^)#]+\.md)\)", PAGES[0].read_text(encoding="utf-8")))
    assert linked == {*PAGE_IDS[1:], "docs/results/README.md"}


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

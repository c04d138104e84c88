"""The pages: what they say of results against the baselines, links, lengths, and the options in examples."""

import collections
import fnmatch
import functools
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest
import yaml

from steertag.suite.run import profile

PROJECT = pathlib.Path(__file__).resolve().parents[3]
README, HACKING = PROJECT / "README.md", PROJECT / "HACKING.md"
DOCS = PROJECT / "docs"
PAGES = (README, HACKING, PROJECT / "ARCHITECTURE.md", *sorted(DOCS.glob("**/*.md")))
MOST_LINES = {README: 100, HACKING: 40}
MOST_CLICKS = 2  # from the README to any page
BASELINES = PROJECT / "fixtures" / "baselines"
HEAD = "| what the kernel does |"  # of a table of findings
ID = re.compile(r"\b(?:[A-Z]+\d*-[\w.]+-\d+|ODAFS-\d+)\b")
FOUND = ("fail", "warn", "crash", "hang")
NUMBERS = (
    *("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"(?:\$ )?(?:build/venv/bin/)?(steertag (?:baseline )?[a-z-]+|pytest)\b")
# The options behind it belong to another command.
NEXT_COMMAND = re.compile(r" -- | && | \| |  # ")


def name_of(page):
    return str(page.relative_to(PROJECT))


def text_of(page):
    return page.read_text(encoding="utf-8")


def findings():
    """(baseline, ids, patterns of cases) of each row of a table of findings."""
    for page in PAGES:
        for paragraph in re.split(r"\n\s*\n", text_of(page)):
            for line in paragraph.splitlines()[2:] if paragraph.startswith(HEAD) else ():
                _, seen_in, requirements, cases = [cell.strip() for cell in line.split("|")[1:-1]]
                (baseline,) = re.findall(r"\[([\w.-]+)\]", seen_in)
                yield baseline, ID.findall(requirements), re.findall("`([^`]+)`", cases)


@functools.cache
def load(name):
    """The content of a baseline."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((BASELINES / f"{name}.yaml").read_text(encoding="utf-8"), loader)


def blamed(row):
    """The ids that a row blames; where the target did not live to show which, all that the case claims."""
    named = row["requirement"]
    return set(ID.findall(row["reason"])) or set([named] if isinstance(named, str) else named)


FINDINGS = list(findings())


def test_the_readme_has_five_findings():
    assert len(FINDINGS) == 5
    assert all(ids and patterns for *_, ids, patterns in FINDINGS)


@pytest.mark.parametrize("baseline, ids, patterns", FINDINGS, ids=[each[2][0] for each in FINDINGS])
def test_a_finding_is_what_the_baseline_says(baseline, ids, patterns):
    """Each named case fails in the baseline and blames what the page says. Each named requirement is
    blamed."""
    side = "client" if baseline.startswith("client-") else "server"
    rows = {row["case"]: row for row in load(baseline)["rows"]}
    seen = set()
    for pattern in patterns:
        cases = fnmatch.filter(rows, f"{side}.{pattern}")
        found = {case: blamed(rows[case]) for case in cases if rows[case]["verdict"] in FOUND}
        assert found, f"no case fails that is called {side}.{pattern}"
        of_pattern = set().union(*found.values())
        assert of_pattern & set(ids), f"{pattern} blames {sorted(of_pattern)}"
        seen |= of_pattern
    assert set(ids) <= seen, f"nothing blames {sorted(set(ids) - seen)}"


def verdicts(name):
    """{verdict: number of cases} of a baseline, without the passes."""
    return collections.Counter(row["verdict"] for row in load(name)["rows"])


def of_short_leases():
    """The cases that the bundled server leaves out because its lease is too long."""
    groups = load("steertag-server")["untested"]
    (cases,) = [
        each["cases"] for each in groups if each["reason"].startswith("the lease is longer")
    ]
    return cases


def test_the_readme_names_what_needs_a_short_lease():
    row = r"\| the bundled server, `--server-arg=--lease=5` \| (.*) \| passes all \|"
    (words,) = re.findall(row, text_of(README))
    named = [
        fnmatch.filter(of_short_leases(), f"server.{each}") for each in words[1:-1].split("`, `")
    ]
    assert all(named), "a name matches no case"
    assert sorted(sum(named, [])) == sorted(of_short_leases())


def test_the_readme_counts_what_our_peers_do_not_pass():
    """`ci/check baselines` holds the baselines of our peers against the suites."""
    text = text_of(README)
    ((lacked, of_pnfs, of_leases),) = re.findall(
        r"\| the bundled server \| all \| passes all but (\w+), of NFSACL and RPCSEC_GSS, which it lacks; "
        r"a few with latitude; (\w+) of pNFS need another server or option, (\w+) a short lease;",
        text,
    )
    server = verdicts("steertag-server")
    assert server.pop("unsupported") == NUMBERS.index(lacked)
    assert server.pop("not-testable") == NUMBERS.index(of_pnfs)
    assert len(of_short_leases()) == NUMBERS.index(of_leases)
    assert set(server) == {"latitude"} and server["latitude"] < 40
    assert "| our client | all | passes all, a few with latitude; " in text
    client = verdicts("steertag-client-v4.1")
    assert set(client) == {"latitude"} and client["latitude"] < 30


def test_the_kernels_are_those_of_the_baselines():
    text = text_of(DOCS / "linux.md")
    (versions,) = re.findall(r"Debian's kernels (\S+) and (\S+) in virtual machines", text)
    heads = [load(path.stem)["software"] for path in BASELINES.glob("*linux*.yaml")]
    assert {re.match(r"Linux (\S+) ", head)[1] for head in heads} == set(versions)


def not_run(target):
    """(verdict, words) of each case that a target's run left out: the words are a row's note, or a group's reason."""
    for row in target["rows"]:
        if row["verdict"] in ("not-testable", "unsupported"):
            yield row["verdict"], " ".join(row["note"].split())
    for group in target["untested"]:
        yield from [(group["verdict"], group["reason"])] * len(group["cases"])


def test_the_page_on_hardware_counts_what_the_baselines_do():
    text = text_of(DOCS / "guide" / "hardware.md")
    targets = [load("linux-6.1-siw"), load("linux-6.1-roce"), load("linux-6.1-rxe")]
    columns = []
    for target in targets:
        left_out = list(not_run(target))
        unsupported = sum(verdict == "unsupported" for verdict, _ in left_out)
        others = [words for verdict, words in left_out if verdict == "not-testable"]
        provider = sum("provider" in words for words in others)
        executed = target["cases"] - len(left_out)
        columns.append((target["cases"], executed, unsupported, len(others), provider))
    heads = ("cases", "executed", "unsupported", "not-testable", "show it")
    for head, numbers in zip(heads, zip(*columns), strict=True):
        assert f"{head} | {' | '.join(map(str, numbers))} |" in text


@pytest.mark.parametrize("page", ["hardware.md", "server.md"])
def test_the_profile_of_a_page_is_one(tmp_path, page):
    text = (DOCS / "guide" / page).read_text()
    (block,) = re.findall(r"^    name: .*\n(?:    .+\n)*", text, re.MULTILINE)
    path = tmp_path / "profile.yaml"
    path.write_text(textwrap.dedent(block))
    assert profile.load(str(path)).name


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page):
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)}


def links(page):
    """(path, anchor) of the links of a page into this tree."""
    for link in LINK.findall(text_of(page)):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_link_leads_to_a_file(page):
    missing = [str(path) for path, _ in links(page) if not path.exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_link_leads_to_a_heading(page):
    found = [(path, anchor) for path, anchor in links(page) if anchor and path.suffix == ".md"]
    assert not [
        f"{name_of(path)}#{anchor}"
        for path, anchor in found
        if path.exists() and anchor not in anchors(path)
    ]


def test_every_page_is_at_most_two_clicks_from_the_readme():
    near = {README}
    for _ in range(MOST_CLICKS):
        near |= {path for page in near for path, _ in links(page) if path in PAGES}
    assert not [name_of(page) for page in PAGES if page not in near]


@pytest.mark.parametrize("page", MOST_LINES, ids=name_of)
def test_a_first_page_is_short(page):
    assert len(text_of(page).splitlines()) <= MOST_LINES[page]


def commands():
    """{command: its options} of the examples, which are indented lines."""
    found = {}
    for page in PAGES:
        for line in re.findall(r"^    (\S.*)$", text_of(page), re.MULTILINE):
            command = COMMAND.match(line)
            if command:
                own = NEXT_COMMAND.split(line)[0]
                options = re.findall(r"(?<!\S)\[?(--[a-z-]+)", own)
                found.setdefault(" ".join(command[1].split()), set()).update(options)
    return found


@functools.cache
def help_of(command):
    """What the program prints of its options."""
    program, *words = command.split()
    if program == "pytest" or words[0] in (
        "test",
        "test-client",
    ):  # the options are those of pytest
        words = ["pytest"]
    else:
        words.insert(0, "steertag.cli")
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

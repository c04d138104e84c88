"""The pages of docs/results/: a matrix, and a page for each shipped baseline."""

import argparse
import pathlib
import sys

from ci.jobs.results.target_page import page
from steertag.baseline import shipped
from steertag.matrix import matrix_markdown
from steertag.matrix.load_target import of_baseline

PROJECT = pathlib.Path(__file__).resolve().parents[3]
RESULTS = PROJECT / "docs" / "results"
MATRIX = "README.md"
# Made by other commands: ci/bench-nfs and ci/bench-direct.
OTHERS = frozenset({"nfs-2003.md", "direct-access.md", "pnfs.md"})
INTRODUCTION = """\
# Results side by side

`ci/results` makes these pages from [fixtures/baselines/](../../fixtures/baselines/). They are not edited. Each
target has a page with its findings in words.

    build/venv/bin/steertag matrix                                # the same, with sentences and notes
    build/venv/bin/steertag matrix build/report linux-6.12-siw    # your report beside one of them
    build/venv/bin/steertag matrix --html results.html            # as a page with filters
    build/venv/bin/steertag diff linux-6.1-siw linux-6.12-siw     # what got worse, better, new or gone

A cell counts the cases that break a requirement, by verdict. Rows without a finding are left out."""
STALE = 1  # the exit status of --check if a page is not current


def main(arguments):
    """Writes the pages, or says which are not current; returns the exit status."""
    parser = argparse.ArgumentParser(prog="ci/results", description="Writes docs/results/.")
    parser.add_argument(
        "--check", action="store_true", help=f"write nothing; exit status {STALE}: not current"
    )
    options = parser.parse_args(arguments)
    expected = pages()
    stale = stale_pages(expected)
    if options.check:
        for name in stale:
            print(f"docs/results/{name} is not current; run ci/results", file=sys.stderr)
        return STALE if stale else 0
    RESULTS.mkdir(exist_ok=True)
    for name in stale:
        if name in expected:
            (RESULTS / name).write_text(expected[name], encoding="utf-8")
        else:
            (RESULTS / name).unlink()
        print(f"docs/results/{name}")
    return 0


def pages():
    """{name of a file: its text} of all pages."""
    found = shipped.baselines()
    paths = [found[name] for name in sorted(found, key=shipped.reading_order)]
    targets = {path: of_baseline(path) for path in paths}
    texts = {
        f"{path.stem}.md": page(target, str(path.relative_to(PROJECT)))
        for path, target in targets.items()
    }
    links = {target.name: f"{path.stem}.md" for path, target in targets.items()}
    lines = [INTRODUCTION, *matrix_markdown.lines(list(targets.values()), pages=links)]
    return {MATRIX: "\n".join(lines) + "\n"} | texts


def stale_pages(expected):
    """The names of files that are missing, that differ, or that have no baseline."""
    present = {path.name: path.read_text(encoding="utf-8") for path in RESULTS.glob("*.md")}
    names = {*present, *expected} - OTHERS
    return sorted(name for name in names if present.get(name) != expected.get(name))

"""The pictures of a page with many failures and of a clean one, as docs/report.md shows them."""

import io
import json
import os
import pathlib
import subprocess
import sys

from PIL import Image

from steertag.report_page.page import page
from steertag.report_page.run_content import run_content
from steertag.testing import browser

PROJECT = pathlib.Path(__file__).resolve().parents[3]
REPORTS = PROJECT / "build" / "page-pictures"
# {picture in docs/: options of the run}
RUNS = {"report-failing": ["--deviate", "grants-zero"], "report-clean": []}
RUN_LIMIT_S = 600
# pytest's exit statuses of a run in which all cases have run.
WHOLE = (0, 1)
SIZE = 1100, 1400
# Enough for text with soft edges, and small in the repository.
COLOURS = 64
READY = "'ready' in document.documentElement.dataset"
DRAWN = "!document.querySelector('details[open]') || document.querySelector('.ladder')"


def main():
    """Writes the pictures; returns the exit status."""
    with browser.browsing() as one:
        one.resize(*SIZE)
        for name, options in RUNS.items():
            report = REPORTS / name
            status = _run([*options, "-n", f"{os.cpu_count()}", "--report", _relative(report)])
            if status not in WHOLE:
                return status
            one.open(_page(report))
            one.await_true(READY)
            one.await_true(DRAWN)
            path = PROJECT / "docs" / f"{name}.png"
            path.write_bytes(_small(one.picture()))
            print(f"{_relative(path)}: {path.stat().st_size} octets")
    return 0


def _run(options):
    command = [sys.executable, "-m", "pytest", "suites/server", *options, "-q"]
    return subprocess.run(command, cwd=PROJECT, timeout=RUN_LIMIT_S, check=False).returncode


def _relative(path):
    return str(path.relative_to(PROJECT))


def _page(report):
    """The page of a run without the machine that made it."""
    document = json.loads((report / "report.json").read_text())
    document["run"] |= {"host": "example", "system": "Linux x86_64"}
    path = report / "picture.html"
    path.write_text(page(run_content(document, report.relative_to(PROJECT))))
    return path


def _small(png):
    made = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(
        made, "PNG", optimize=True
    )
    return made.getvalue()

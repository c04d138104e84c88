"""The row of two MTUs says why it could not be measured, and its figures come back from the process that did."""

import json
import os
import sys

import pytest

from ci.jobs.bench_nfs import networks
from ci.jobs.bench_nfs.bench_servers import CannotMeasure, processors
from ci.jobs.bench_nfs.figures import Figures, json_of

FIGURES = Figures(100, 10, 1.0, 0.2, 0.1)


@pytest.fixture
def unshare(tmp_path, monkeypatch):
    """Makes an `unshare` of this script, and that the only program."""

    def make(script):
        program = tmp_path / "unshare"
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path))
    return make


def test_namespaces_that_are_refused_are_told(unshare):
    unshare("echo warning >&2; echo unshare: Operation not permitted >&2; exit 1")
    sentence = r"no two network namespaces \(unshare: Operation not permitted\)"
    with pytest.raises(CannotMeasure, match=sentence):
        networks.measured(1, 0.1)


def test_a_machine_without_unshare_is_told(unshare):
    with pytest.raises(CannotMeasure, match="there is no unshare"):
        networks.measured(1, 0.1)


def test_figures_come_from_a_process_that_may_use_both_processors(unshare):
    found = {(1500, ("TCP", 4096)): [FIGURES]}
    both = set(processors())
    unshare(
        f"""exec {sys.executable} -c '
import os
if os.sched_getaffinity(0) != {both}: raise SystemExit("it is bound to one")
print(\"\"\"{json.dumps(json_of(found))}\"\"\")'"""
    )
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processors()[0]})
    try:
        assert networks.measured(1, 0.1) == found
    finally:
        os.sched_setaffinity(0, before)

"""A fault of the server is a verdict under a requirement: no case ends in a Python traceback over what it
reads."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from steertag import build_paths

RUN_LIMIT_S = 300
HERE = pathlib.Path(__file__).parent
# What the server may have refused: a plain call that the case prepares itself by.
PREPARING = "preparing the case: "
# Cases that read chunks and results of COMPOUNDs; some eighty.
READERS = "test_write_chunks or test_unused_write_chunks or window_of_different"


def run(folder, *arguments, **environment):
    """The rows of report.json, and the output, of the server suite against the bundled server."""
    command = [sys.executable, "-m", "pytest", "suites/server", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--report", str(folder), *arguments],
        cwd=build_paths.checkout(),
        env={**os.environ, "PYTHONPATH": str(HERE), **environment},
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return json.loads((folder / "report.json").read_text())["cases"], done.stdout


@pytest.mark.parametrize("seed", ["1", "2"])
def test_no_bent_message_is_an_error_of_the_harness(tmp_path, seed):
    rows, output = run(tmp_path, "-p", "bent_replies", "-k", READERS, STEERTAG_BEND=seed)
    failed = [row for row in rows if row["verdict"] == "fail"]
    assert len(failed) > len(rows) / 10
    errors = [row for row in rows if row["verdict"] == "harness-error"]
    assert not [row["reason"] for row in errors if not row["reason"].startswith(PREPARING)]
    assert "Traceback" not in output


@pytest.mark.parametrize(
    "deviation, case_id, reason",
    [
        ("write-beyond-chunk", "server.iwarp.read-nothing", "RFC8166-8.1.4-2: write_stays"),
        ("write-offset-zeroed", "server.credit.window-mixed", "RFC8166-3.4.6-4: "),
        ("callback-unannounced", "server.reverse.other-connection-back", "RFC8267-6.5.2-1: "),
    ],
)
def test_a_fault_of_the_server_names_its_requirement(tmp_path, deviation, case_id, reason):
    (row,), output = run(tmp_path, "--deviate", deviation, "--case", case_id)
    assert row["verdict"] == "fail"
    assert reason in row["reason"]
    assert "Traceback" not in output

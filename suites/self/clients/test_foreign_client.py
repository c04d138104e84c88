"""Clients that the suite knows by their commands alone, and that end a connection by themselves.

Ours with a deviation stands for another: of that, nothing is known but what it does.
"""

import json
import pathlib

import pytest
import warm_runs

from steertag import build_paths

SUITE = build_paths.checkout() / "suites" / "client"
RUN_LIMIT_S = 300
LEFT = "expected completed, saw left"


def run_case(folder, case_id, deviation):
    """The row of the case in the report of its run."""
    command = f"{build_paths.tool('steertag-copy')} {{url}} --nfs 4.1 --deviate {deviation}"
    words = [str(SUITE), "-q", f"--case={case_id}", f"--report={folder}"]
    words += ["--client-command", command]
    done = warm_runs.completed("pytest", words, limit_s=RUN_LIMIT_S)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    (row,) = json.loads(pathlib.Path(folder, "report.json").read_text())["cases"]
    return row


@pytest.mark.parametrize(
    "deviation, case_id, requirement",
    [
        (
            "bad-reply-disconnects",
            "client.combination.write-behind-bad-version.inline-4096-reconnected",
            "RFC8166-4.5-3",
        ),
        (
            "unknown-xid-disconnects",
            "client.combination.read-answered-twice.inline-4096-reconnected",
            "RFC8167-2.4-1",
        ),
        (
            "reverse-chunks-disconnect",
            "client.reverse.chunks-answered.read-list",
            "RFC8167-5.3-3",
        ),
        (
            "misordered-callback-disconnects",
            "client.combination.callback-misordered.inline-4096-reconnected",
            "RFC8881-20.9.3-2",
        ),
    ],
)
def test_a_connection_that_the_client_ends_is_a_failure(tmp_path, deviation, case_id, requirement):
    row = run_case(tmp_path, case_id, deviation)
    what = "not true: the client keeps the connection" if "callback" in case_id else LEFT
    assert row["verdict"] == "fail"
    assert row["reason"].startswith(f"{requirement}: {what}")


def test_behind_a_loss_a_client_that_keeps_the_next_connection_passes(tmp_path):
    """The deviation is about calls of the server, and there are none."""
    case_id = "client.combination.read-answered-twice.inline-4096-reconnected"
    row = run_case(tmp_path, case_id, "reverse-chunks-disconnect")
    assert (row["verdict"], row["reason"]) == ("pass", "")

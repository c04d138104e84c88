"""A peer's failures are compared row by row, and each row is defended by a clause."""

import pytest

from ci.jobs.peers import peer_baseline
from ci.jobs.peers.peer_baseline import PeerBaseline
from ci.jobs.peers.peer_run import CannotRun, PeerRun

ROW = "- {test: OPEN1, clause: RFC 7530 9.9, reason: The text has it so.}"
# How many failures of ours stay at most.
MOST_ROWS = {"pynfs-4.0": 7, "pynfs-4.1": 8, "libnfs": 0}


def baseline_of(tmp_path, *rows):
    text = "\n".join(["passed: 5", "rows:" if rows else "rows: []", *rows])
    (tmp_path / "peer.yaml").write_text(text + "\n")
    return peer_baseline.load("peer", tmp_path)


def test_a_run_is_as_its_baseline_says(tmp_path):
    baseline = baseline_of(tmp_path, ROW)
    assert baseline.rows == {"OPEN1": ("RFC 7530 9.9", "The text has it so.")}
    assert not list(baseline.differences(PeerRun(5, {"OPEN1": "a message"})))


def test_each_difference_is_a_sentence():
    baseline = PeerBaseline(5, {"OPEN1": ("RFC 7530 9.9", "reason")})
    assert list(baseline.differences(PeerRun(4, {"LOCK2": "should return OK"}))) == [
        "LOCK2 fails: should return OK",
        "OPEN1 does not fail any more: remove its row",
        "4 tests pass, fewer than 5",
    ]


@pytest.mark.parametrize(
    "row",
    [
        "- {test: OPEN1, reason: no clause}",
        "- {test: OPEN1, clause: somewhere, reason: no clause either}",
        "- {test: OPEN1, clause: RFC 7530 9.9, reason: ''}",
    ],
)
def test_a_row_without_a_defence_is_refused(tmp_path, row):
    with pytest.raises(CannotRun, match="a row needs test, clause"):
        baseline_of(tmp_path, row)


def test_a_test_has_one_row(tmp_path):
    with pytest.raises(CannotRun, match="OPEN1 has two rows"):
        baseline_of(tmp_path, ROW, ROW)


def test_a_peer_without_a_baseline_is_told(tmp_path):
    with pytest.raises(CannotRun, match="stranger has no baseline"):
        peer_baseline.load("stranger", tmp_path)


@pytest.mark.parametrize("name, most", MOST_ROWS.items())
def test_few_failures_of_our_server_stay(name, most):
    baseline = peer_baseline.load(name)
    assert len(baseline.rows) <= most
    assert baseline.passed > 0, "a run of no test would be as the baseline says"

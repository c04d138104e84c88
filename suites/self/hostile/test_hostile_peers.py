"""No number of a peer hurts the suite: each run ends with a verdict on the peer, in time and in little memory."""

import hostile_run
import pytest
from extremes import BEYOND, CREDIT_WORD, EXTREMES, Turns, VALUES, with_extreme

MESSAGE = bytes(range(1, 41))
# Cases that use what the server grants, and what it says of lengths.
READERS = {
    "rdma": "test_write_chunks or window_of_different or test_fore_channel or request_size",
    "tcp": "test_nfs_binding or test_records or test_rpc",
}
CLIENT_READERS = "test_beyond or test_other_connection or test_few_slots or test_callback_errors"


def test_all_words_get_all_values():
    turns = Turns()
    messages = {turns.bent("call", MESSAGE) for _ in range(len(MESSAGE) // 4 * VALUES)}
    wanted = {
        with_extreme(MESSAGE, word, number)
        for word in range(len(MESSAGE) // 4)
        for number in range(VALUES)
    }
    assert messages == wanted


def test_a_value_is_an_extreme_or_just_beyond_the_end():
    words = [with_extreme(MESSAGE, 2, number)[8:12] for number in range(VALUES)]
    values = [int.from_bytes(word, "big") for word in words]
    assert values == [*EXTREMES, *(28 + more for more in BEYOND)]


def test_later_runs_go_on_where_others_ended():
    first, later = Turns(), Turns(start=3)
    for _ in range(3):
        first.bent("call", MESSAGE)
    assert first.bent("call", MESSAGE) == later.bent("call", MESSAGE)


def test_others_are_left_alone():
    turns = Turns(every=3)
    bent = [turns.bent("call", MESSAGE) != MESSAGE for _ in range(6)]
    assert bent == [False, False, True] * 2


def expect_sound(run):
    assert list(run.problems()) == []
    assert any(row["verdict"] in ("fail", "hang") for row in run.rows), run.line()


@pytest.mark.parametrize("value", [EXTREMES[2], EXTREMES[4]])
def test_a_grant_without_bounds_takes_no_memory(tmp_path, value):
    steady = ("--steady", str(CREDIT_WORD), str(EXTREMES.index(value)))
    run = hostile_run.against_server(tmp_path, steady, "--topic", "credit")
    assert list(run.problems()) == []
    overruns = [row for row in run.rows if ".overrun-" in row["id"]]
    reason = "the server grants more calls than the case sends"
    assert {(row["verdict"], row["reason"]) for row in overruns} == {("not-testable", reason)}


@pytest.mark.parametrize("over", READERS)
def test_extremes_of_a_server_are_verdicts(tmp_path, over):
    turns = ("--turns", "0", "2")
    expect_sound(hostile_run.against_server(tmp_path, turns, "-k", READERS[over], "--over", over))


def test_extremes_of_a_client_are_verdicts(tmp_path):
    expect_sound(hostile_run.against_client(tmp_path, "-k", CLIENT_READERS))

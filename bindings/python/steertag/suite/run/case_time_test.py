"""A case that does not end is ended, and so is what goes on after that."""

import signal
import threading

import pytest

from steertag.suite.cases.case_end import Hung
from steertag.suite.run import case_time
from steertag.suite.run.case_time import within

SHORT_S = 0.01


def wait_for_a_signal():
    while True:
        signal.pause()


def test_what_has_no_end_is_a_hang():
    with pytest.raises(Hung, match="the case has no end within 0.01 s"):
        with within(SHORT_S, "the case"):
            wait_for_a_signal()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_what_goes_on_ends_again(monkeypatch):
    # Far away: a signal between two lines of this test would end the test.
    monkeypatch.setattr(case_time, "AGAIN_S", 1000)
    with within(SHORT_S, "the case"):
        with pytest.raises(Hung):
            wait_for_a_signal()
        left_s, again_s = signal.getitimer(signal.ITIMER_REAL)
        assert 900 < left_s <= 1000 and again_s == 1000
        with pytest.raises(Hung):
            signal.raise_signal(signal.SIGALRM)


def test_a_deadline_inside_another_leaves_that_one():
    with within(1000, "the case"):
        with pytest.raises(Hung, match="the end of its connections"):
            with within(SHORT_S, "the end of its connections"):
                wait_for_a_signal()
        left_s, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 900 < left_s <= 1000


def test_beside_the_main_thread_there_is_no_deadline():
    found = []

    def work():
        with within(SHORT_S, "the case"):
            found.append(signal.getitimer(signal.ITIMER_REAL))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(0, 0)]

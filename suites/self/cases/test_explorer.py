"""The search for a conversation that fails: what becomes of trials that end before their time."""

import types

import pytest

pytest.importorskip("hypothesis", reason="python3-hypothesis is not installed (ci/setup --check)")
from hypothesis import strategies as st
from steertag.properties import explorer
from steertag.properties.state_machine import Conversation
from steertag.suite.cases.case_end import Failed, Hung, NotTestable
from steertag.suite.exchange.deadline import Deadlines
from steertag.verdict import Verdict


class Script:
    """Ends the trial at its first line."""

    lines = ["conn1 = bench.connect()"]

    def __init__(self, end):
        self._end = end

    def new(self, word):
        return f"{word}1"

    def do(self, line):
        raise self._end


class Trial(explorer.Trial):
    """A trial that needs no target."""

    ends = []  # how the trials end, one after the other; the last one stays
    made = []  # those that were judged

    def __init__(self, of, session):
        self._explorer = of
        self.script = Script(self.ends.pop(0) if len(self.ends) > 1 else self.ends[0])
        self.run = types.SimpleNamespace(verdict=Verdict.PASS, reason="", end=self._note)

    def _note(self, end):
        self.run.verdict, self.run.reason = end.verdict, end.reason

    missed = 0

    def judge(self):
        self.made.append(self)


@pytest.fixture
def search(monkeypatch):
    """Explores with trials that end so; the Explorer, which reports nothing."""

    def run(*ends):
        monkeypatch.setattr(explorer, "Trial", Trial)
        monkeypatch.setattr(Trial, "ends", list(ends))
        monkeypatch.setattr(Trial, "made", [])
        monkeypatch.setattr(explorer, "case_source", lambda *_: "")
        session = types.SimpleNamespace(
            run=types.SimpleNamespace(
                case_id="server.property.any",
                case=None,
                note=lambda *words: noted.append(words),
            ),
            deadlines=Deadlines(),
            bundled=True,
            lost=None,
        )
        searching = explorer.Explorer(session, 0)
        searching.noted = noted = []
        monkeypatch.setattr(searching, "_leave_out", lambda: None)
        monkeypatch.setattr(searching, "_report", lambda: None)
        searching.conversations(Conversation, examples=10, steps=5)
        return searching

    return run


def test_trials_that_all_end_before_their_time_show_nothing(search):
    with pytest.raises(NotTestable, match="no conversation came to its end: no room"):
        search(NotTestable("no room"))


def test_failure_is_kept_whatever_becomes_of_later_trials(search):
    found = search(Failed("RFC8166-4-1: broken"), NotTestable("no room"))
    assert found._smallest.reason == "RFC8166-4-1: broken"


def test_failure_is_kept_if_there_is_no_time_for_later_trials(search, monkeypatch):
    monkeypatch.setattr(explorer, "MOST_FAILED", 1)
    found = search(Failed("RFC8166-4-1: broken"))
    assert found._smallest.reason == "RFC8166-4-1: broken"


class Ended:
    """A limit of time: whether it has passed by the end of so many trials."""

    def __init__(self, trials):
        self._trials = trials

    @property
    def passed(self):
        return len(Trial.made) >= self._trials


def test_search_ends_at_once_when_its_time_is_over(search, monkeypatch):
    monkeypatch.setattr(explorer, "Limit", lambda _: Ended(2))
    with pytest.raises(NotTestable, match="the target is too slow for the trials of a property"):
        search(NotTestable("no room"))
    assert len(Trial.made) == 2


def test_failure_that_took_all_the_time_is_that_of_the_case(search, monkeypatch):
    monkeypatch.setattr(explorer, "Limit", lambda _: Ended(1))
    found = search(Hung("after the case the target does not answer"))
    reason = "after the case the target does not answer"
    assert found.noted == [(Verdict.HANG, reason, "there was no time to do it again")]


def test_failure_is_kept_if_the_deadline_of_the_case_passes(search, monkeypatch):
    def late(*_):
        raise Hung("the case has no end")

    found = search(Failed("RFC8166-4-1: broken"), NotTestable("no room"))
    monkeypatch.setattr(found, "_leave_out", lambda: None)
    found._explore(late)
    assert found._smallest.reason == "RFC8166-4-1: broken"


@pytest.fixture
def explored():
    """Explores trials of a property that all pass, of a target as far away as that; how many there were."""

    def run(distance_ms, round_trip_ms):
        made = []

        class Passing(explorer.Explorer):
            def begin(self):
                made.append(1)
                return types.SimpleNamespace(write=lambda *_: None, finish=lambda: None)

        session = types.SimpleNamespace(
            run=types.SimpleNamespace(case_id="server.property.any"),
            deadlines=Deadlines(round_trip_ms, distance_ms),
            bundled=False,
        )
        try:
            Passing(session, 0).examples(st.integers(), None, 60)
        except NotTestable as end:
            return len(made), end.reason
        return len(made), ""

    return run


def test_a_load_leaves_no_trial_out(explored):
    made, left_out = explored(distance_ms=1, round_trip_ms=400)
    assert made == 60 and left_out == ""


def test_a_distant_target_passes_no_property(explored):
    made, left_out = explored(distance_ms=80, round_trip_ms=400)
    assert made == 10
    assert left_out.startswith("10 of 60 trials found nothing, and no more were made: a round trip")

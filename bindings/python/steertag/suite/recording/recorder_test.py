"""The log of a case: order, numbers of messages, what is left out, and its limits."""

import types

import pytest

from ...verdict import Verdict
from . import recorder as module
from .recorder import Recorder


class Tap:
    """A connection on which messages come by `hear`."""

    def __init__(self, log, name):
        self.conn, self.name = object(), name
        self._came = []
        log.tapped(self)

    @property
    def position(self):
        return len(self._came)

    def hear(self, octets):
        self._came.append(("received", {"octets": octets}))

    def came(self, start, end):
        return self._came[start:end]


@pytest.fixture
def log():
    return Recorder()


def kinds(log):
    return [(step.kind, step.subject) for step in log.steps()]


def outcome(tap, number):
    return types.SimpleNamespace(conn=tap.conn, call=None, number=number, xid=7)


def test_what_came_stands_between_what_was_posted(log):
    first, second = Tap(log, "c0"), Tap(log, "c1")
    log.posted("send", "c0", octets=b"1")
    first.hear(b"2")
    log.posted("send", "c1", octets=b"3")
    second.hear(b"4")
    first.hear(b"5")
    log.over()
    assert kinds(log) == [
        ("send", "c0"),
        ("received", "c0"),
        ("send", "c1"),
        ("received", "c0"),
        ("received", "c1"),
    ]


def test_waits_in_turns_are_one_step_a_connection(log):
    tap = Tap(log, "c0")
    for _ in range(3):
        log.quiet("c0", 5)
        log.quiet("c1", 7)
    tap.hear(b"1")
    log.quiet("c0", 5)
    assert [(step.kind, step.fields.get("ms")) for step in log.steps()] == [
        ("quiet", 15),
        ("quiet", 21),
        ("received", None),
        ("quiet", 5),
    ]


def test_a_judgement_names_the_step_of_its_message(log):
    tap = Tap(log, "c0")
    log.posted("send", "c0", octets=b"1")
    tap.hear(b"2")
    tap.hear(b"3")
    log.expect(outcome(tap, 2), "RFC8166-3.3.3-1", {"must": ["reply"]})
    log.check("wrong", Verdict.FAIL, outcome(tap, 0))
    judged = log.steps()[-2:]
    assert [(step.fields["conn"], step.fields["seen"]) for step in judged] == [
        ("c0", 2),
        ("c0", None),
    ]


def test_the_harness_leaves_no_trace(log):
    tap = Tap(log, "h0")
    with log.paused():
        log.posted("send", "h0", octets=b"1")
        tap.hear(b"2")
    log.given("base", b"handle")
    log.over()
    log.posted("send", "h0", octets=b"3")
    tap.hear(b"4")
    assert kinds(log) == [("given", "")]


def test_a_failure_has_one_judgement(log):
    tap = Tap(log, "c0")
    log.expect(outcome(tap, 0), "RFC8166-3.3.3-1", {"must": ["reply"]})
    log.ended("RFC8166-3.3.3-1: expected reply, saw hang", Verdict.HANG)
    assert [step.kind for step in log.steps()] == ["expect"]
    log.ended("the first NULL call of a connection was not answered", Verdict.HANG)
    assert [step.kind for step in log.steps()] == ["expect", "check"]


def test_an_outcome_of_no_connection_is_a_gap(log):
    log.expect(types.SimpleNamespace(kind="reply"), "RFC8166-3.3.3-1", {"must": ["reply"]})
    assert log.gap == "a case judges an outcome that it made up itself"


def test_a_case_without_end_is_a_gap(log, monkeypatch):
    monkeypatch.setattr(module, "MOST_STEPS", 3)
    for _ in range(9):
        log.posted("send", "c0", octets=b"")
    assert log.gap == "the case has more than 3 steps" and len(log.steps()) <= 4


def test_many_octets_are_a_gap(log, monkeypatch):
    monkeypatch.setattr(module, "MOST_OCTETS", 1 << 20)
    log.posted("send", "c0", octets=bytes((1 << 20) + 1))
    assert log.gap == "the case uses more than 1 MiB"

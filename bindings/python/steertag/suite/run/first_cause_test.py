"""Which of several requirements that a case found broken leads: the rule's, or the one that the case claims."""

import types

import pytest

from steertag.causes.case_cause import JUDGED, RULE
from steertag.suite.cases.case_run import Note
from steertag.suite.cases.evidence import Evidence
from steertag.suite.cases.finding import CaseFinding
from steertag.suite.run.first_cause import first_cause
from steertag.trace import Role
from steertag.verdict import Verdict

CLAIMED, GENERAL, OTHER = "RFC8166-4.3.3-4", "RFC8166-4.2.4-8", "RFC8166-4.1.2-13"


class Events:
    """A recorder with sends of the server at the events 1 and 3, each a nanosecond apart."""

    def __init__(self):
        self._events = [
            types.SimpleNamespace(index=index, kind="send", actor=actor, time_ns=index)
            for index, actor in enumerate([Role.client, Role.server, Role.client, Role.server])
        ]

    def __len__(self):
        return len(self._events)

    def __getitem__(self, index):
        return self._events[index]

    def events(self):
        return self._events


@pytest.fixture
def conn():
    watch = types.SimpleNamespace(recorder=Events(), number=0)
    return types.SimpleNamespace(watch=watch, trace_lines=lambda: [])


def found(requirement, event):
    return CaseFinding(requirement, f"rule of {requirement}", event, "one thing", "another", True)


def cause(conn, findings, note=None, claims=(CLAIMED,)):
    run = types.SimpleNamespace(
        verdict=Verdict.FAIL,
        notes=[*([note] if note else []), Note(Verdict.FAIL, "the findings")],
        violations=[(each, conn) for each in findings],
        requirements=list(claims),
    )
    return first_cause(run, [conn])


def note(message=()):
    reason = f"{CLAIMED}: octets behind the word: expected 0, saw 3"
    return Note(Verdict.FAIL, reason, evidence=Evidence("", ("a line",), message))


def test_the_earliest_violation_leads(conn):
    assert cause(conn, [found(CLAIMED, 3), found(GENERAL, 1)]).requirement == GENERAL


def test_of_violations_in_one_event_the_claimed_one_leads(conn):
    one = cause(conn, [found(GENERAL, 1), found(CLAIMED, 1)])
    assert (one.kind, one.requirement, one.follows) == (RULE, CLAIMED, (GENERAL,))


def test_a_claim_leads_that_is_judged_in_the_message_of_the_violation(conn):
    one = cause(conn, [found(GENERAL, 3), found(OTHER, 3)], note((conn, 2)))
    assert (one.kind, one.requirement, one.follows) == (JUDGED, CLAIMED, (GENERAL, OTHER))
    assert (one.text, one.expected) == ("octets behind the word: 3", "0")


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_violation_in_another_message_leads(conn, number):
    assert cause(conn, [found(GENERAL, 3)], note((conn, number))).requirement == GENERAL


def test_a_violation_leads_if_the_case_read_no_message(conn):
    assert cause(conn, [found(GENERAL, 3)], note()).requirement == GENERAL


def test_a_violation_that_the_case_claims_leads(conn):
    claims = (CLAIMED, GENERAL)
    assert cause(conn, [found(GENERAL, 3)], note((conn, 2)), claims).requirement == GENERAL

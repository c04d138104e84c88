"""The text of a run: its notes, and below them each trace once."""

from steertag.suite.cases.case_run import Run
from steertag.verdict import Verdict

SHORT = "trace of 2 events:\n    #0 Connect\n  > #1 Accept"
LONG = "trace of 3 events:\n    #0 Connect\n  > #1 Accept\n    #2 Disconnect"
OTHER = "trace of 1 events:\n    #0 Connect refused"


def text_of(*details):
    run = Run(None, "self.case")
    for number, detail in enumerate(details, 1):
        run.note(Verdict.FAIL, f"reason {number}", detail)
    return run.text()


def test_notes_with_one_trace_stand_above_it():
    text = text_of(f"first\n{SHORT}", f"second\n{LONG}")
    assert text == f"fail: reason 1\nfirst\nfail: reason 2\nsecond\n{LONG}"


def test_other_traces_stay_below_their_notes():
    text = text_of(f"first\n{LONG}", f"second\n{OTHER}", "third")
    assert (
        text
        == f"fail: reason 1\nfirst\n{LONG}\nfail: reason 2\nsecond\n{OTHER}\nfail: reason 3\nthird"
    )

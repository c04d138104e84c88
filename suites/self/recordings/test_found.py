"""Property-based cases: a failure is shrunk, printed as the code of a case that runs, and recorded.

Every run makes the same trials. --seed gives others."""

import contextlib
import pathlib
import types

import pytest
import warm_runs

pytest.importorskip("hypothesis", reason="python3-hypothesis is not installed (ci/setup)")
from hypothesis import given, settings
from steertag_command import run_cases, RUN_LIMIT_S, steertag

from steertag import nfs, rpc, wire
from steertag.properties import strategies
from steertag.properties.explorer import Enough, Explorer, TrialFailed
from steertag.properties.source import source
from steertag.properties.units import units, without
from steertag.suite.exchange.deadline import Deadlines
from steertag.suite.recording.recording_file import read
from steertag.verdict import Verdict

PROJECT = pathlib.Path(__file__).resolve().parents[3]
OWN = """
from hypothesis import strategies as st
from steertag.suite import case

@case("self.versions", requirements=["RFC8166-4.5.1-1"], hostile=True)
def test_versions(explorer):
    def write(script, vers):
        script.do("conn = bench.connect()")
        script.do("call = conn.null_call()")
        script.do(f"call.vers = {vers}")
        kind = "reply" if vers == 1 else "err-vers"
        script.do(f'expect(conn.exchange(call), "RFC8166-4.5.1-1", must=["{kind}"])')
        with open("trials", "a") as trials:
            trials.write(f"{vers} ")
    explorer.examples(st.integers(0, 1 << 20), write)

@case("self.mistaken", requirements=["RFC8166-4.5.1-1"])
def test_mistaken(explorer):
    explorer.examples(st.integers(), lambda script, value: script.do("nothing.there"))
"""


def pasted(recording):
    """The code that the failure prints."""
    return read(recording).detail.partition("fails in the same way:\n\n")[2]


def failure(folder, deviation, selection):
    """The recording that a run of one of the suite's own properties leaves."""
    words = ["suites/server/mixed/test_property.py", "-q"]
    words += ["-k", selection, "--deviate", deviation, "--report", str(folder / "report")]
    done = warm_runs.completed("pytest", words, PROJECT, RUN_LIMIT_S)
    found = list((folder / "report").glob("failures/*"))
    assert len(found) == 1, f"no failure, exit {done.returncode}:\n{done.stdout}{done.stderr}"
    return found[0]


# Defect, the property that finds it, and a line that the smallest case cannot do without.
FOUND = {
    "inline-above-threshold": ("conversation and not hostile", ".reply_chunk(call"),
    "exits-on-broken-list": ("test_hostile_conversation", ".exchange(call"),
    "broken-list-discarded": ("test_header", "conn.exchange(wire.Draft(read_list_end=1))"),
}


@pytest.mark.parametrize("deviation", FOUND)
def test_a_failure_is_a_case_that_can_be_pasted(tmp_path, deviation):
    selection, line = FOUND[deviation]
    recording = failure(tmp_path, deviation, selection)
    text = pasted(recording)
    assert line in text and text.count("bench.connect(") <= 3, text
    again = run_cases(tmp_path, text, "--deviate", deviation, "--report", str(tmp_path / "again"))
    (repeated,) = (again.parents[1] / "again" / "failures").iterdir()
    assert read(repeated).reason == read(recording).reason
    run_cases(tmp_path, text, "--report", str(tmp_path / "good"))
    assert not (tmp_path / "good" / "failures").exists(), "a conforming server passes it"
    done = steertag("replay", recording)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_smallest_value_is_left(tmp_path):
    recordings = run_cases(tmp_path, OWN, "--deviate", "version-executed", "-k", "versions")
    text = pasted(recordings / "self.versions.steertag")
    assert "    call.vers = 0\n" in text


def trials(folder, *arguments):
    """The values that a run tried."""
    folder.mkdir()
    run_cases(folder, OWN, "-k", "versions", *arguments)
    return (folder / "trials").read_text().split()


def test_the_same_trials_in_every_run_and_others_with_a_seed(tmp_path):
    first = trials(tmp_path / "first")
    assert len(set(first)) > 10
    assert trials(tmp_path / "second") == first
    assert trials(tmp_path / "third", "--seed", "5") != first


def test_a_mistake_in_a_property_is_a_harness_error(tmp_path):
    recordings = run_cases(tmp_path, OWN, "-k", "mistaken")
    report = (recordings.parent / "report.json").read_text()
    assert '"verdict": "harness-error"' in report and '"reason": "NameError"' in report


class OneTrial:
    """The session that an Explorer asks for trials. Its target has this round trip."""

    lost = ""
    run = types.SimpleNamespace(case_id="self.trial")

    def __init__(self, round_trip_ms):
        self.deadlines = Deadlines(round_trip_ms)

    @contextlib.contextmanager
    def inner_run(self):
        yield types.SimpleNamespace(verdict=Verdict.PASS, reason="")

    def bench(self):
        return None


# Round trip in ms: failed trials that wait for an answer, the first one of them.
SILENT = {1: 6, 20: 3, 100: 1}


@pytest.mark.parametrize("round_trip_ms", SILENT)
def test_the_round_trip_limits_how_often_a_silence_is_waited_for(round_trip_ms):
    explorer = Explorer(OneTrial(round_trip_ms), 0)
    silent = types.SimpleNamespace(verdict=Verdict.FAIL, reason="ID: expected reply, saw silence")
    failed = 0
    with pytest.raises(Enough):
        while explorer.begin():
            with pytest.raises(TrialFailed):
                explorer.failed(["conn1 = bench.connect()"], silent, 1)
            failed += 1
    assert failed == SILENT[round_trip_ms]


LINES = [
    "file1 = bench.file(content1)",
    "conn1 = bench.connect()",
    "conn2 = bench.connect()",
    "call1 = conn1.null_call()",
    "conn1.send(call1)",
    "call2 = conn1.nfs_call('READ', file=file1)",
    "conn1.send(call2)",
    "outcomes1 = conn1.collect_sent([call1, call2])",
    "expect(outcomes1[call1.xid], ANSWERED)",
    "expect(outcomes1[call2.xid], ANSWERED)",
    "conn2.close()",
]


def test_a_call_goes_with_all_its_lines():
    left = without(LINES, "call2")
    assert "outcomes1 = conn1.collect_sent([call1])" in left
    assert not any("call2" in line for line in left) and len(left) == len(LINES) - 3


def test_what_needs_a_part_goes_with_it():
    assert without(LINES, "conn1") == [LINES[0], LINES[2], LINES[10]]
    assert without(LINES, "file1") == without(LINES, "call2")[1:]
    assert without(LINES, 10) == LINES[:10]
    assert units(LINES) == [10, "call2", "call1", "conn2", "conn1", "file1"]


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(strategies.drafts, strategies.private_data(), strategies.legal_private_data)
def test_values_are_their_source(draft, octets, announced):
    names = {"wire": wire, "rpc": rpc, "nfs": nfs}
    for value in (draft, octets, announced, wire.Procedure.NOMSG):
        assert eval(source(value), names) == value

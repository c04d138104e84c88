"""Tests of what is compared with the suite over loopback, and of the guest's server."""

import os
import types

import pytest

from lab import target as targets
from lab.failure import LabFailure
from lab.machines.agent import OrderFailed
from lab.netem import suite_run

PASSED = ["pass server.a.b ", "not-testable server.c.d needs it"]


def test_the_same_verdicts_pass(capsys):
    assert suite_run.judged("it", PASSED, list(PASSED))
    assert capsys.readouterr().out == "it: 2 cases: the verdicts of loopback\n"


def test_another_verdict_fails_and_is_shown(capsys):
    assert not suite_run.judged("it", PASSED, ["fail server.a.b saw silence", PASSED[1]])
    shown = capsys.readouterr().out.splitlines()
    assert "-pass server.a.b " in shown and "+fail server.a.b saw silence" in shown
    assert shown[-1] == "it: 2 cases: other verdicts than over loopback"


def test_two_runs_of_nothing_show_nothing():
    assert not suite_run.judged("it", [], [])


def test_the_guests_server_is_started_as_that_of_the_suite():
    session = pytest.importorskip("steertag.suite.run.server_session")
    own = session._with_direct_access(session._with_data_servers(()))
    assert own == suite_run.SERVER_ARGUMENTS


def test_the_profile_names_where_the_packed_server_listens(tmp_path, monkeypatch):
    packed = []
    monkeypatch.setattr(suite_run.program, "append", lambda *given: packed.append(given))
    target = targets.load("netem-roce")
    suite_run.pack(target, tmp_path / "steertag-serve", tmp_path)
    arguments = packed[0][1]
    assert "roce://10.0.2.15:20049" in arguments
    assert suite_run.profile(target)["tcp"] in arguments


def test_a_server_that_does_not_listen_is_a_failure_with_its_words():
    def do(line):
        if not line.endswith("&"):
            raise OrderFailed("the guest failed at `tries=`:\n    log address in use")

    guest = types.SimpleNamespace(agent=types.SimpleNamespace(do=do))
    with pytest.raises(LabFailure, match="address in use"):
        suite_run.start_server(guest)


class Ends:
    """Descriptors that are readable once something has ended."""

    def __init__(self):
        self.end, self.other = os.pipe()

    def come(self):
        os.write(self.other, b"x")

    def close(self):
        os.close(self.end)
        os.close(self.other)


@pytest.fixture
def ends():
    run, machine = Ends(), Ends()
    yield run, machine
    run.close()
    machine.close()


def test_the_run_ends_before_the_machine_or_is_no_run(ends):
    run, machine = ends
    booted = types.SimpleNamespace(
        open_end=lambda: os.dup(machine.end), last_words=lambda: "its console says: BUG"
    )
    assert not suite_run.ended(run.end, 0, booted)
    machine.come()
    with pytest.raises(LabFailure, match="the machine died"):
        suite_run.ended(run.end, 0, booted)
    run.come()
    assert suite_run.ended(run.end, 0, booted)
    assert suite_run.ended(run.end, 0, None)

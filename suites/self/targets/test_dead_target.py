"""Runs against a third party that dies, hangs, is slow, or comes back."""

import contextlib
import json
import shlex

import pytest
import yaml
from suite_sessions import options_of
from version_zero import VERSION_ZERO

from steertag.suite.cases.transport import RDMA
from steertag.suite.run.options import DEFAULT_LISTEN
from steertag.suite.run.server_process import BundledServer
from steertag.suite.run.server_session import ServerSession


@pytest.fixture
def third_party(suite):
    """Starts the scripted server with a defect, apart from the suite; returns its URL."""
    servers = []

    def start(defect):
        server = BundledServer(
            *(suite.program, DEFAULT_LISTEN, ["--deviate", defect], suite.pytester.path, "other")
        )
        servers.append(server)
        server.start()
        return server.urls[RDMA]

    start.pid = lambda: servers[-1].pid
    yield start
    for server in servers:
        server.stop()


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_third_party_that_dies_ends_the_run(suite, third_party, workers):
    suite.cases(test_version=VERSION_ZERO)
    result = suite.run("--target", third_party("dies"), *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED, "a crash is a failure"
    document = suite.document()
    assert [(row["id"], row["verdict"]) for row in document["cases"]] == [
        ("self.version-zero", "crash")
    ]
    assert "refuses new connections since self.version-zero" in document["stopped"]


def test_a_crash_is_a_failure_unless_the_baseline_expects_it(suite, third_party):
    def status(*rows):
        text = yaml.safe_dump({"target": "t", "date": "2025-01-01", "rows": [*rows]})
        (suite.pytester.path / "baseline.yaml").write_text(text)
        return suite.run("--target", third_party("dies"), "--baseline", "baseline.yaml").ret

    suite.cases(test_version=VERSION_ZERO)
    assert status() == pytest.ExitCode.TESTS_FAILED
    (seen,) = suite.document()["cases"]
    row = {"case": seen["id"], "requirement": seen["requirements"][0], "note": "dies"}
    row |= {key: seen[key] for key in ("verdict", "reason")}
    assert status(row) == pytest.ExitCode.INTERRUPTED, "the run still ended early"


@pytest.mark.parametrize(
    "died, verdict, state",
    [("true", "crash", "is dead"), ("false", "hang", "does not answer")],
)
def test_a_profile_tells_a_third_party_that_is_dead_from_one_that_hangs(
    suite, third_party, died, verdict, state
):
    target = third_party("hangs")
    (suite.pytester.path / "profile").write_text(f"died: ['{died}']\nrestart: ['false']\n")
    suite.cases(test_version=VERSION_ZERO)
    suite.run("--target", target, "--profile", "profile")
    document = suite.document()
    assert {row["id"]: row["verdict"] for row in document["cases"]} == {
        "self.version-zero": verdict
    }
    assert f"{state} since self.version-zero" in document["stopped"]


def test_a_third_party_that_answers_again_was_slow_and_is_not_restarted(suite, third_party):
    target = third_party("rests")
    # Between two probes the suite looks whether it is dead; by then it goes on.
    wake = ["sh", "-c", f"kill -USR1 {third_party.pid()}; exit 1"]
    (suite.pytester.path / "profile").write_text(f"died: {json.dumps(wake)}\nrestart: ['false']\n")
    suite.cases(test_version=VERSION_ZERO)
    suite.run("--target", target, "--profile", "profile")
    verdicts = {row["id"]: row["verdict"] for row in suite.document()["cases"]}
    assert verdicts == {"self.version-zero": "pass", "self.null": "pass"}


def test_a_third_party_that_does_not_come_back_is_restarted_once_more(suite, third_party):
    restarts = suite.pytester.path / "restarts"
    command = ["sh", "-c", f"echo one >> {shlex.quote(str(restarts))}"]
    (suite.pytester.path / "profile").write_text(f"restart: {json.dumps(command)}\n")
    suite.cases(test_version=VERSION_ZERO)
    suite.run("--target", third_party("dies"), "--profile", "profile")
    assert restarts.read_text() == "one\n" * 2
    assert "did not come back: after 2 restarts: " in suite.document()["stopped"]


@pytest.mark.parametrize("outcome, restarted", [("crash", True), ("hang", False)])
def test_a_third_party_that_survives_an_expected_crash_is_restarted(
    suite, third_party, outcome, restarted
):
    log = suite.pytester.path / "restarts"
    command = ["sh", "-c", f"echo one >> {shlex.quote(str(log))}"]
    row = {"case": "self.version-zero", "requirement": "RFC8166-4.2.2-1", "note": "often dies"}
    row |= {"verdict": outcome, "reason": "it stops", "or": [{"verdict": "pass", "reason": ""}]}
    baseline = {"target": "t", "date": "2025-01-01", "rows": [row]}
    (suite.pytester.path / "profile").write_text(f"name: t\nrestart: {json.dumps(command)}\n")
    (suite.pytester.path / "baseline").write_text(yaml.safe_dump(baseline))
    suite.cases(test_version=VERSION_ZERO)
    files = ("--profile", "profile", "--baseline", "baseline")
    suite.run("--target", third_party("wrong-error"), *files)
    assert [row["verdict"] for row in suite.document()["cases"]] == ["pass", "fail"]
    assert log.exists() == restarted


def test_a_third_party_that_dies_while_the_files_are_removed_has_crashed(suite, third_party):
    target = third_party("ends-badly")
    suite.cases(
        test_late=f"""
        import os, select, signal
        from steertag.suite import case
        from steertag.suite.exchange.link import Refused

        def die():
            pid = {third_party.pid()}
            ended = select.poll()
            ended.register(os.pidfd_open(pid))
            os.kill(pid, signal.SIGKILL)
            ended.poll()
            raise Refused("connection reset")

        @case("self.late", requirements=["RFC8166-4.5.1-1"])
        def test_late(bench):
            bench.clean_up = die
        """
    )
    suite.run("--target", target)
    verdicts = {row["id"]: row["verdict"] for row in suite.document()["cases"]}
    assert verdicts == {"self.late": "crash"}


def test_what_came_back_is_reached_by_the_same_provider(tmp_path):
    """The bench of the dead target still has it, and with it the only UDP port 4791 of our address."""
    with contextlib.closing(ServerSession(options_of(tmp_path), "main")) as session:
        session.first_contact()
        before = session._link
        session._restart()
        assert session._link is not before
        assert session._link.provider is before.provider
        assert session._link.probe(session.deadlines) is None

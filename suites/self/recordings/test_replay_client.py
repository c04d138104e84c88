"""A failed case for clients leaves a recording too, and is done again by its id."""

import dataclasses

import pytest
import warm_runs
from steertag_command import RUN_LIMIT_S, steertag

from steertag import build_paths
from steertag.suite.recording.recording_file import CLIENT, ClientOf, read, write

CASE = "client.header.plain.version-two"
SUITE = build_paths.checkout() / "suites" / "client"


def run_case(folder, *arguments):
    """The ended pytest."""
    words = [str(SUITE), "-q"]
    words += [f"--case={CASE}", f"--report={folder}/report", *arguments]
    return warm_runs.completed("pytest", words, limit_s=RUN_LIMIT_S)


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """The recording of a case that failed against our client with a deviation."""
    folder = tmp_path_factory.mktemp("client")
    done = run_case(folder, "--client-deviate=takes-any-version")
    assert done.returncode == 1, done.stdout + done.stderr
    path = folder / "report" / "failures" / f"{CASE}.steertag"
    assert f"steertag replay {path}" in done.stdout
    return path


def test_recording_tells_who_was_tested(failed):
    recording = read(failed)
    assert recording.tests == CLIENT
    assert recording.target.deviations == ("takes-any-version",)
    assert recording.case["id"] == CASE
    assert recording.verdict == "fail" and recording.reason
    assert recording.capture, "the capture shows octets and order"


def test_played_again_it_gives_the_same(failed):
    done = steertag("replay", failed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same verdict and reason" in done.stdout


def test_conforming_client_gives_another_verdict(failed, tmp_path):
    recording = read(failed)
    path = tmp_path / "conforming.steertag"
    write(path, dataclasses.replace(recording, target=ClientOf(nfs="4.1", timeout_s=20.0)))
    done = steertag("replay", path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "replayed: pass" in done.stdout


def test_command_of_a_recording_is_not_run(failed, tmp_path):
    trap = tmp_path / "trap"
    target = ClientOf(command=f"touch {trap}", nfs="4.1", timeout_s=5.0)
    path = tmp_path / "command.steertag"
    write(path, dataclasses.replace(read(failed), target=target))
    done = steertag("replay", path)
    assert done.returncode == 2
    assert "give the command to run" in done.stderr
    assert not trap.exists()


def test_command_that_is_given_is_run(failed):
    program = build_paths.tool("steertag-copy")
    done = steertag("replay", failed, "--client-command", f"{program} {{url}} --nfs 4.1")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "replayed: pass" in done.stdout


def test_arguments_of_the_other_side(failed):
    done = steertag("replay", failed, "--target", "iwarp://127.0.0.1:1")
    assert done.returncode == 2
    assert "--target: the recording is of a case for clients" in done.stderr


def test_shrinking_is_refused_in_words(failed):
    done = steertag("shrink", failed)
    assert done.returncode == 2
    assert "client cases cannot be shrunk" in done.stderr

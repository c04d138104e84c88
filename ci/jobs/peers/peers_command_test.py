"""ci/peers says in one sentence what is missing, and ends with the status of what it found."""

import contextlib

import pytest

from ci.jobs.peers import libnfs_tools, peer_baseline, peers_command, pynfs_suite
from ci.jobs.peers.peer_baseline import PeerBaseline
from ci.jobs.peers.peer_run import CannotRun, PeerRun


@contextlib.contextmanager
def no_server():
    yield 1


@pytest.fixture
def found(monkeypatch):
    """What libnfs finds, against a baseline without a row."""
    result = PeerRun(4, {})
    monkeypatch.setattr(libnfs_tools, "check", lambda: None)
    monkeypatch.setattr(libnfs_tools, "run", lambda _: result)
    monkeypatch.setattr(peers_command, "own_server", no_server)
    monkeypatch.setattr(peer_baseline, "load", lambda _: PeerBaseline(4, {}))
    return result


def test_nothing_runs_while_something_is_missing(found, monkeypatch, capsys):
    monkeypatch.setattr(libnfs_tools, "run", lambda _: pytest.fail("it ran"))
    assert peers_command.main([]) == peers_command.CANNOT_RUN
    assert capsys.readouterr().err == (
        "ci/peers: pynfs is missing: name a built checkout by --pynfs DIR\n"
    )


def test_a_named_peer_needs_nothing_of_the_others(found, capsys):
    assert peers_command.main(["libnfs"]) == 0
    assert capsys.readouterr().out == "libnfs: 4 passed, 0 failed, 0 defended\n"


def test_a_difference_is_a_line_and_a_status(found, capsys):
    found.failed["copy-v3"] = "nfs-cp ended with status 1"
    assert peers_command.main(["libnfs"]) == peers_command.DIFFERENT
    assert capsys.readouterr().out.splitlines() == [
        "libnfs: copy-v3 fails: nfs-cp ended with status 1",
        "libnfs: 4 passed, 1 failed, 0 defended",
    ]


def test_a_peer_that_ends_early_is_told(found, monkeypatch, capsys, tmp_path):
    def ends(*_):
        raise CannotRun("pynfs-4.0 ended without results")

    monkeypatch.setattr(pynfs_suite, "check", lambda _: None)
    monkeypatch.setattr(pynfs_suite, "run", ends)
    assert peers_command.main(["pynfs-4.0", "--logs", str(tmp_path)]) == peers_command.CANNOT_RUN
    assert capsys.readouterr().err == "ci/peers: pynfs-4.0 ended without results\n"


@pytest.mark.parametrize("differs, status", [(False, 0), (True, peers_command.DIFFERENT)])
def test_ganesha_is_a_target_of_the_lab(found, monkeypatch, differs, status):
    gates = []
    monkeypatch.setattr(peers_command, "gate", lambda name: gates.append(name) or differs)
    assert peers_command.main(["ganesha"]) == status
    assert gates == ["ganesha"]


def test_a_name_of_no_peer_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        peers_command.main(["stranger"])
    assert ended.value.code == peers_command.CANNOT_RUN
    assert "no peer has the name stranger" in capsys.readouterr().err

"""pynfs is a checkout that the user names; its results are read from its JSON file."""

import json

import pytest

from ci.jobs.peers import pynfs_suite
from ci.jobs.peers.peer_run import CannotRun

PORT = 12049
# Writes what it was called with, and results.
PROGRAM = """\
import json, sys
arguments = [word for word in sys.argv if word.startswith("--jsonout=")]
open("called", "w").write(" ".join(sys.argv[1:]))
print("a line of output")
tests = [
    {"code": "A1"},
    {"code": "A2", "skipped": 1},
    {"code": "A3", "failure": {"message": "OPEN should return\\n NFS4_OK", "err": "Traceback"}},
]
json.dump({"testcase": tests}, open(arguments[0].split("=")[1], "w"))
"""


@pytest.fixture
def checkout(tmp_path):
    """A built checkout whose programs report three tests."""
    for folder in pynfs_suite.FOLDERS.values():
        (tmp_path / folder / "xdrdef").mkdir(parents=True)
        (tmp_path / folder / pynfs_suite.BUILT).touch()
        (tmp_path / folder / pynfs_suite.PROGRAM).write_text(PROGRAM)
    return tmp_path


def test_a_checkout_that_is_not_there_or_not_built_is_told(tmp_path, checkout):
    pynfs_suite.check(checkout)
    with pytest.raises(CannotRun, match="name a built checkout by --pynfs DIR"):
        pynfs_suite.check(None)
    with pytest.raises(
        CannotRun, match=r"is no checkout of pynfs: nfs4\.0/testserver\.py is missing"
    ):
        pynfs_suite.check(tmp_path / "elsewhere")
    (checkout / "nfs4.1" / pynfs_suite.BUILT).unlink()
    with pytest.raises(CannotRun, match=r"is not built: run \./setup\.py build there"):
        pynfs_suite.check(checkout)


@pytest.mark.parametrize("minor, folder", pynfs_suite.FOLDERS.items())
def test_a_run_gives_what_passed_and_what_failed(checkout, minor, folder):
    found = pynfs_suite.run(checkout, minor, PORT, checkout)
    assert found.passed == 1
    assert found.failed == {"A3": "OPEN should return NFS4_OK"}
    called = (checkout / folder / "called").read_text().split()
    assert called[:2] == [f"127.0.0.1:{PORT}/export", "all"]
    assert f"--minorversion={minor}" in called, "4.1's default is another"
    assert (checkout / f"pynfs-4.{minor}.log").read_text() == "a line of output\n"


def test_results_of_an_earlier_run_do_not_count(checkout):
    (checkout / "pynfs-4.0.json").write_text(json.dumps({"testcase": [{"code": "A1"}]}))
    (checkout / "nfs4.0" / pynfs_suite.PROGRAM).write_text("raise SystemExit(1)\n")
    with pytest.raises(CannotRun, match=r"pynfs-4\.0 ended without results"):
        pynfs_suite.run(checkout, 0, PORT, checkout)

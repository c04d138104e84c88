"""The captures that the suite leaves, read with tshark: legal NFS traffic is shown as what it is."""

import pathlib
import shutil
import subprocess
import sys

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
# Legal exchanges of every form but one: tshark 4.0 itself stumbles over READs whose write chunks have
# several segments, pads or room left, and over memory that is offered twice (README, "In Wireshark").
LEGAL = "test_inline_data or test_read_chunks or (test_reply_chunk and test_long_read)"
STUMBLES = "test_same_memory_twice"
RUN_LIMIT_S = 120

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def run(command):
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """The captures of a run of the legal cases against the bundled server."""
    report = tmp_path_factory.mktemp("report")
    selection = ["-k", f"({LEGAL}) and not {STUMBLES}", "--report", str(report)]
    run([sys.executable, "-m", "pytest", "suites/server", "-q", *selection])
    found = sorted((report / "captures").glob("*.pcapng"))
    assert len(found) > 20
    return found


def fields(path, what, *columns):
    """The columns of the packets that the display filter selects, in two passes."""
    names = [argument for column in columns for argument in ("-e", column)]
    command = ["tshark", "-n", "-2", "-r", str(path), "-Y", what, "-T", "fields", *names]
    return [line.split("\t") for line in run(command).splitlines()]


def test_every_message_is_rpc_over_rdma_and_nfs_without_a_flaw(captures):
    for path in captures:
        sends = fields(path, "iwarp_rdma.opcode == 3", "frame.protocols")
        assert sends, path.name
        for (protocols,) in sends:
            assert "rpcordma:" in protocols or protocols.endswith(":rpcordma"), (path.name, sends)
        assert fields(path, "_ws.malformed", "frame.number", "frame.protocols") == [], path.name


def test_the_first_packet_says_case_and_verdict(captures):
    for path in captures:
        comments = fields(path, "frame.number == 1", "frame.comment")
        assert comments == [[f"case {path.stem},verdict pass"]], path.name

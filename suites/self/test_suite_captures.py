"""The captures that the suite leaves, read with tshark: legal NFS traffic is shown as what it is."""

import pathlib
import shutil
import subprocess
import sys

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
# Legal exchanges of every form but one. tshark 4.0 itself stumbles over READs whose write chunks have several
# segments, pads or room left. It also stumbles over memory that is offered twice (docs/guide/captures.md).
LEGAL = "test_inline_data or test_read_chunks or (test_reply_chunk and test_long_read)"
STUMBLES = "test_same_memory_twice"
# Over TCP, with records in one fragment and in many. tshark 4.0 calls fragments without data malformed.
# It knows no RPC of strange programs and versions, and none whose header the first fragment cuts.
RECORDS = "test_reply and (null or getattr or read) or write_in_fragments and 00"
RECORDS += " or one_segment or pipelined"
LEGAL_OVER_TCP = f"test_records and ({RECORDS}) or test_rpc_auth and (none or within)"
LEGAL_OVER_TCP += " or test_xid and (falling or again or pipelined)"
RUN_LIMIT_S = 120

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def run(command):
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def captures_of(report, selection, *arguments):
    """The captures of a run of some cases against the bundled server."""
    command = [sys.executable, "-m", "pytest", "suites/server", "-q", "-k", selection]
    run([*command, "--captures", "all", "--report", str(report), *arguments])
    return sorted((report / "captures").glob("*.pcapng"))


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """Those of legal cases over RDMA."""
    found = captures_of(tmp_path_factory.mktemp("report"), f"({LEGAL}) and not {STUMBLES}")
    assert len(found) > 20
    return found


@pytest.fixture(scope="module")
def tcp_captures(tmp_path_factory):
    """Those of legal cases over TCP."""
    found = captures_of(tmp_path_factory.mktemp("report"), LEGAL_OVER_TCP, "--over", "tcp")
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


def test_over_tcp_records_are_rpc_by_themselves(tcp_captures):
    for path in tcp_captures:
        segments = fields(path, "tcp.len > 0", "frame.protocols", "tcp.srcport")
        assert all(port == "2049" or int(port) >= 50000 for _, port in segments), path.name
        # A segment of a larger record has no protocol of its own; what is not understood is "data".
        assert not any(protocols.endswith(":data") for protocols, _ in segments), path.name
        senders = {port == "2049" for protocols, port in segments if ":rpc" in protocols}
        assert senders == {True, False}, (path.name, segments)
        assert fields(path, "_ws.malformed", "frame.number", "frame.protocols") == [], path.name
        comments = fields(path, "frame.number == 1", "frame.comment")
        assert comments == [[f"case {path.stem},verdict pass"]], path.name

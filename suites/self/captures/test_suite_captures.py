"""The captures that the suite leaves, read with tshark: legal NFS traffic is shown as what it is."""

import pathlib
import shutil
import subprocess
import sys

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[3]
# Legal exchanges of every form but one. tshark 4.0 itself stumbles over READs whose write chunks have several
# segments, pads or room left. It also stumbles over memory that is offered twice (docs/guide/captures.md).
LEGAL = "test_inline_data or test_read_chunks or (test_reply_chunk and test_long_read)"
STUMBLES = "test_same_memory_twice"
# Over RoCE, too: tshark takes one octet with its pad for an EtherType and looks for that protocol.
STUMBLES_OVER_ROCE = f"{STUMBLES} or single-octets"
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
def roce_captures(tmp_path_factory):
    """Those of legal cases over RoCE."""
    selection = f"({LEGAL}) and not ({STUMBLES_OVER_ROCE})"
    report = tmp_path_factory.mktemp("report")
    found = captures_of(report, selection, "--listen", "roce://127.0.0.1:0")
    assert len(found) > 20
    return found


@pytest.fixture(scope="module")
def tcp_captures(tmp_path_factory):
    """Those of legal cases over TCP."""
    found = captures_of(tmp_path_factory.mktemp("report"), LEGAL_OVER_TCP, "--over", "tcp")
    assert len(found) > 20
    return found


COLUMNS = {
    "comment": "frame.comment",
    "length": "tcp.len",
    "malformed": "_ws.malformed",
    "number": "frame.number",
    "opcode": "iwarp_rdma.opcode",
    "protocols": "frame.protocols",
    "source": "tcp.srcport",
}
SEND = "0x03"  # opcode of RDMAP (RFC 5040 4.3)
COLUMNS_OVER_ROCE = {
    "comment": "frame.comment",
    "malformed": "_ws.malformed",
    "number": "frame.number",
    "protocols": "frame.protocols",
    "psn": "infiniband.bth.psn",
    "queue_pair": "infiniband.bth.destqp",
}
# tshark guesses this protocol by octets of the content, and takes one call of some hundred for it.
GUESSED = "tcpencap"


def packets(path, columns=COLUMNS):
    """{column: text} of each packet, by one run of tshark in two passes. Several FPDUs of a packet are joined by
    commas."""
    names = [argument for field in columns.values() for argument in ("-e", field)]
    command = ["tshark", "-n", "-2", "--disable-protocol", GUESSED, "-r", str(path)]
    lines = run([*command, "-T", "fields", *names]).splitlines()
    return [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]


def has_repetitions(found):
    """Whether a packet with an RPC message is there twice. A machine with much to do repeats some, and tshark
    calls the second message malformed."""
    numbers = [(each["queue_pair"], each["psn"]) for each in found if ":rpc" in each["protocols"]]
    return len(set(numbers)) < len(numbers)


def check(path, found):
    """No packet of the capture is malformed, and the first says case and verdict."""
    flaws = [(each["number"], each["protocols"]) for each in found if each["malformed"]]
    assert flaws == [], path.name
    assert found[0]["comment"] == f"case {path.stem},verdict pass", path.name


def test_every_message_is_rpc_over_rdma_and_nfs_without_a_flaw(captures):
    for path in captures:
        found = packets(path)
        sends = [each["protocols"] for each in found if SEND in each["opcode"].split(",")]
        assert sends, path.name
        for protocols in sends:
            assert "rpcordma:" in protocols or protocols.endswith(":rpcordma"), (path.name, sends)
        check(path, found)


def test_over_roce_every_message_is_rpc_over_rdma_and_nfs_without_a_flaw(roce_captures):
    checked = 0
    for path in roce_captures:
        found = packets(path, COLUMNS_OVER_ROCE)
        assert all("udp:infiniband" in each["protocols"] for each in found), path.name
        assert any(":rpcordma" in each["protocols"] for each in found), path.name
        if not has_repetitions(found):
            check(path, found)
            checked += 1
    assert checked > 0


def test_over_tcp_records_are_rpc_by_themselves(tcp_captures):
    for path in tcp_captures:
        found = packets(path)
        segments = [each for each in found if int(each["length"]) > 0]
        ports = [each["source"] for each in segments]
        assert all(port == "2049" or int(port) >= 50000 for port in ports), path.name
        # A segment of a larger record has no protocol of its own; what is not understood is "data".
        assert not any(each["protocols"].endswith(":data") for each in segments), path.name
        senders = {each["source"] == "2049" for each in segments if ":rpc" in each["protocols"]}
        assert senders == {True, False}, (path.name, segments)
        check(path, found)

"""Reads the suite's capture files back with tshark, and the observers that Python can use."""

import gc
import shutil
import subprocess
import weakref

import pytest

from steertag import trace

CLIENT = trace.Role.client
SERVER = trace.Role.server

# MPA revision 2 with IRD 16, ORD 16 and the private data of RFC 8797 (RFC 6581 9, RFC 8797 4).
MPA_REQUEST = bytes.fromhex(
    "4d504120 49442052 65712046 72616d65 5002000c 00100010 f6ab0e18 01010303"
)
MPA_REPLY = bytes.fromhex("4d504120 49442052 65702046 72616d65 5002000c 00100010 f6ab0e18 01000303")
# RDMA_MSG without chunks; NFSv3 NULL, AUTH_NONE.
NULL_CALL = bytes.fromhex(
    "12345678 00000001 00000020 00000000 00000000 00000000 00000000"
    "12345678 00000000 00000002 000186a3 00000003 00000000 00000000 00000000 00000000 00000000"
)
NULL_REPLY = bytes.fromhex(
    "12345678 00000001 00000020 00000000 00000000 00000000 00000000"
    "12345678 00000001 00000000 00000000 00000000 00000000"
)
ERR_CHUNK = bytes.fromhex("12345678 00000001 00000020 00000004 00000002")

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def crc32c(octets):
    crc = 0xFFFFFFFF
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "little")


def send_fpdu(msn, message):
    """One Send in one FPDU (RFC 5041 4.2, RFC 5044 4)."""
    ulpdu = bytes.fromhex("4143 00000000 00000000") + msn.to_bytes(4, "big") + bytes(4) + message
    unit = len(ulpdu).to_bytes(2, "big") + ulpdu
    unit += bytes(-len(unit) % 4)
    return unit + crc32c(unit)


def null_exchange(client=("192.0.2.1", 50000), server=("192.0.2.2", 20049), start_ns=1_000_000):
    """A capture of a whole connection: startup, two NULL calls in one chunk, two replies, end."""
    capture = trace.StreamCapture(client=client, server=server)
    second_call = NULL_CALL.replace(bytes.fromhex("12345678"), bytes.fromhex("12345679"))
    second_reply = NULL_REPLY.replace(bytes.fromhex("12345678"), bytes.fromhex("12345679"))
    chunks = [
        (CLIENT, MPA_REQUEST),
        (SERVER, MPA_REPLY),
        (CLIENT, send_fpdu(1, NULL_CALL) + send_fpdu(2, second_call)),
        (SERVER, send_fpdu(1, NULL_REPLY)),
        (SERVER, send_fpdu(2, second_reply)),
    ]
    for number, (sender, octets) in enumerate(chunks):
        capture.on_bytes(start_ns + number, sender, octets)
    capture.on_end(start_ns + len(chunks), CLIENT)
    capture.on_end(start_ns + len(chunks), SERVER)
    return capture


def tshark(path, *arguments):
    done = subprocess.run(
        ["tshark", "-n", "-r", str(path), *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_fpdu_of_this_file_has_the_published_crc():
    assert send_fpdu(3, ERR_CHUNK).endswith(bytes.fromhex("1f83689f"))


@needs_tshark
@pytest.mark.parametrize("passes", [(), ("-2",)], ids=["one-pass", "two-passes"])
def test_null_exchange_is_dissected_without_a_flaw(tmp_path, passes):
    path = tmp_path / "null.pcapng"
    null_exchange().finish(path)
    fields = ("rpcordma.xid", "rpc.msgtyp", "nfs.procedure_v3")
    columns = [argument for field in fields for argument in ("-e", field)]
    assert tshark(path, *passes, "-Y", "rpcordma", "-T", "fields", *columns) == [
        "0x12345678\t0\t0",
        "0x12345679\t0\t0",
        "0x12345678\t1\t0",
        "0x12345679\t1\t0",
    ]
    assert tshark(path, *passes, "-Y", "_ws.malformed || tcp.analysis.flags") == []
    assert len(tshark(path, *passes, "-Y", "iwarp_mpa.req || iwarp_mpa.rep")) == 2


@needs_tshark
@pytest.mark.parametrize("hosts", [("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::2")])
def test_checksums_are_right(tmp_path, hosts):
    path = tmp_path / "sums.pcapng"
    null_exchange(client=(hosts[0], 50000), server=(hosts[1], 20049)).finish(path)
    check = ("-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE")
    assert len(tshark(path, *check, "-Y", "tcp.checksum.status == 1")) == 12
    assert tshark(path, *check, "-Y", "ip.checksum.status == 0") == []
    crc = [line for line in tshark(path, "-V", "-Y", "iwarp_mpa.fpdu") if "CRC check" in line]
    assert len(crc) == 4 and all("(Good CRC32)" in line for line in crc), crc


@needs_tshark
def test_comments_stand_on_their_packets(tmp_path):
    path = tmp_path / "comments.pcapng"
    capture = null_exchange()
    capture.annotate(1_000_003, SERVER, "finding: RFC8166-4.2.1-1")
    capture.finish(path, comments=["case server.null", "verdict fail"])
    lines = tshark(
        path, "-Y", "frame.comment", "-T", "fields", "-e", "frame.number", "-e", "frame.comment"
    )
    assert lines == ["1\tcase server.null,verdict fail", "8\tfinding: RFC8166-4.2.1-1"]


@needs_tshark
def test_several_connections_share_a_file(tmp_path):
    path = tmp_path / "two.pcapng"
    first = null_exchange(start_ns=1000)
    second = null_exchange(client=("192.0.2.1", 50001), start_ns=1002)
    trace.write_captures(path, [second, first], clock_offset_ns=1_700_000_000 * 10**9)
    streams = tshark(path, "-Y", "rpcordma", "-T", "fields", "-e", "tcp.stream")
    assert sorted(streams) == ["0"] * 4 + ["1"] * 4
    times = tshark(path, "-T", "fields", "-e", "frame.time_epoch")
    assert times == sorted(times)
    assert times[0] == "1700000000.000001000"


def test_capture_appears_whole_or_not_at_all(tmp_path):
    with pytest.raises(OSError, match="missing"):
        null_exchange().finish(tmp_path / "missing" / "x.pcapng")
    (tmp_path / "taken.pcapng").mkdir()
    with pytest.raises(OSError, match="taken"):
        null_exchange().finish(tmp_path / "taken.pcapng")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.pcapng"]


def test_endpoints_must_be_numeric():
    with pytest.raises(ValueError, match="'localhost' is not a numeric"):
        trace.StreamCapture(client=("localhost", 1), server=("192.0.2.2", 20049))


def test_fanout_keeps_its_sinks_alive():
    recorder = trace.Recorder()
    gone = weakref.ref(recorder)
    fanout = trace.Fanout(sink for sink in [recorder])
    del recorder
    gc.collect()
    assert gone() is not None
    del fanout
    gc.collect()
    assert gone() is None


def test_fanout_takes_sinks_only():
    with pytest.raises((TypeError, RuntimeError)):
        trace.Fanout([object()])
    with pytest.raises(TypeError):
        trace.EventSink()


def test_empty_recorder_is_an_empty_sequence():
    recorder = trace.Recorder(limit_events=1)
    assert len(recorder) == 0 and recorder.events() == [] and list(recorder) == []
    with pytest.raises(IndexError):
        recorder[-1]

"""Lines of captures that Linux and our own peers made."""

import pytest

from steertag import build_paths
from steertag.failure import Failure
from steertag.traces.capture_lines import events_of_capture, lines_of_capture, lines_of_events
from steertag.traces.line import TO_CLIENT, TO_SERVER, Violation

CAPTURES = build_paths.checkout() / "fixtures/captures"
ALL = sorted(path for path in CAPTURES.rglob("*") if path.suffix in (".pcap", ".pcapng"))
NO_CAPTURES = ("empty.pcapng", "header-cut.pcap", "not-a-capture.pcapng")


def lines(name):
    return lines_of_capture(CAPTURES / f"{name}.pcapng")


def texts(name):
    return [line.text for line in lines(name)]


@pytest.mark.parametrize(
    "text",
    [
        "Connect announces send 4096 receive 4096, remote invalidation",
        "RDMA_MSG xid 0xe42fbe78 credits 128; read chunk at position 120: 1 segment of 9003 octets; "
        "CALL NFSv3 WRITE fh #5e9cd2d4 offset 0 count 9003 FILE_SYNC",
        "RDMA Read of 9003 octets from read chunk at position 120 of xid 0xe42fbe78, segment 1 offset 0",
        "RDMA_MSG xid 0xe42fbe78 credits 64; REPLY NFSv3 WRITE NFS3_OK count 9003 FILE_SYNC; "
        "invalidates STag 0x03cb9201",
        "RDMA_NOMSG xid 0xe82fbe78 credits 64; reply chunk: 3 segments of 124, 8604, 0 octets; "
        "REPLY NFSv3 READDIRPLUS NFS3_OK entries 42 eof",
        'RDMA_MSG xid 0xff2fbe78 credits 128; CALL NFSv3 RENAME fh #da686b37 "small" to "renamed"',
        "RDMA_MSG xid 0xfb2fbe78 credits 64; REPLY NFSv3 LOOKUP NFS3ERR_NOENT",
        "Disconnect",
    ],
)
def test_version_3_in_words(text):
    assert text in texts("linux-6.1-siw-v3")


@pytest.mark.parametrize(
    "part",
    [
        "CALL NFSv4.1 COMPOUND SEQUENCE slot 0 seq 21, PUTFH fh #b2a7c651, READ delegation stateid seqid 0 "
        "offset 0 count 12288",
        "REPLY NFSv4.1 COMPOUND NFS4_OK: SEQUENCE OK slot 0 seq 21, PUTFH OK, READ OK 10001 octets eof",
        'OPEN CLAIM_NULL "small" create UNCHECKED4 access 2 deny 0',
        "OPEN OK open stateid seqid 1 OPEN_DELEGATE_READ",
        "LOCK WRITEW_LT open stateid seqid 1 new owner offset 0 length 18446744073709551615",
        "LOCKU lock stateid seqid 1",
        "REPLY NFSv4.1 COMPOUND NFS4ERR_NOENT: SEQUENCE OK slot 0 seq 68, PUTFH OK, OPEN NFS4ERR_NOENT",
        "CALL NFSv4.1 CB_COMPOUND CB_SEQUENCE slot 0 seq 1, CB_RECALL delegation stateid seqid 1 fh #b4c6fbc3",
        "REPLY NFSv4.1 CB_COMPOUND NFS4_OK: CB_SEQUENCE OK slot 0 seq 1, CB_RECALL OK",
    ],
)
def test_version_4_in_words(part):
    assert any(part in text for text in texts("linux-6.1-siw-v4.1"))


@pytest.mark.parametrize("version", ["v3", "v4.1"])
def test_roce_has_the_same_words(version):
    """Both captures are of the same workload."""

    def calls(name):
        found = (text.partition("; CALL ")[2] for text in texts(name))
        return [" ".join(call.split()[:3]) for call in found if call]

    iwarp, roce = calls(f"linux-6.1-siw-{version}"), calls(f"linux-6.1-rxe-{version}")
    assert len(iwarp) > 50
    assert set(iwarp) == set(roce)


def test_a_line_has_its_values():
    line = next(line for line in lines("linux-6.1-siw-v3") if "NFSv3 WRITE" in line.text)
    assert (line.connection, line.direction, line.sender, line.kind) == (
        1,
        TO_SERVER,
        "client",
        "send",
    )
    assert int.from_bytes(line.octets[4:8], "big") == 1
    write = next(line for line in lines("linux-6.1-siw-v3") if line.kind == "rdma_write")
    (chunk,) = write.chunks
    assert write.direction == TO_CLIENT and len(write.octets) == chunk.length
    assert (chunk.kind, chunk.chunk, chunk.segment) == ("write", 1, 1)
    assert write.row()["chunks"][0]["xid"] == chunk.xid and "octets" not in write.row()


def test_touching_rdma_writes_are_one_line():
    (events,) = events_of_capture(CAPTURES / "linux-6.1-siw-v3.pcapng")
    made = lines_of_events(events)
    assert len(made) < len(events)
    merged = next(line for line in made if line.text.startswith("RDMA Write of 8604 octets"))
    assert merged.last > merged.number and merged.last in merged.events
    (marked,) = [
        line for line in lines_of_events(events, [Violation(merged.last, "X")]) if line.violations
    ]
    assert marked.number == merged.number


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_every_capture_has_lines_of_one_row_each(path):
    if path.name in NO_CAPTURES:
        with pytest.raises(Failure):
            lines_of_capture(path)
        return
    for line in lines_of_capture(path):
        assert line.text.isprintable() and line.text.isascii() and line.text


def test_octets_do_as_well_as_a_file():
    path = CAPTURES / "linux-6.1-siw-v3.pcapng"
    assert lines_of_capture(path.read_bytes()) == lines_of_capture(path)


def test_connections_are_in_the_order_of_time():
    found = lines_of_capture(CAPTURES / "broken/iwarp-ports-reused.pcapng")
    times = [line.time_s for line in found]
    assert times == sorted(times) and times[0] == 0
    assert {line.connection for line in found} == {1, 2}


def test_no_file(tmp_path):
    with pytest.raises(Failure, match="No such file"):
        lines_of_capture(tmp_path / "none.pcapng")

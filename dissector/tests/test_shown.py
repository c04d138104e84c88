"""What the plugin shows: fields, columns, expert information, statistics, by the preferences."""

import messages
import pytest
import tshark
from frames import CLIENT, SERVER, Capture, Iwarp

SITUATIONS = tshark.CAPTURES / "situations"
OVERRUN = SITUATIONS / "10-credit-overrun.pcapng"
DONE = SITUATIONS / "10-done.pcapng"
READ = SITUATIONS / "03-read-with-write-chunk.pcapng"
STORY = tshark.CAPTURES / "conforming" / "server.direct.story.pcapng"
SOLICITED = SITUATIONS / "13-solicited-events.pcapng"


def frame(frames, number):
    return frames[number - 1]


def test_opening(wireshark, passes):
    frames = wireshark.frames(SOLICITED, passes=passes)
    connect = frame(frames, 4)
    assert connect.one("opening") == "connect"
    assert connect.one("private_data.send_size") == "4096"
    assert connect.one("private_data.remote_invalidation") in ("1", "True")
    assert connect.all("threshold.to_server") == []
    accept = frame(frames, 5)
    assert accept.one("sender") == "server"
    assert accept.one("threshold.to_server") == "4096"
    assert accept.one("threshold.to_client") == "4096"
    assert accept.one("remote_invalidation") in ("1", "True")


def test_finding(wireshark, passes):
    first = frame(wireshark.frames(OVERRUN, passes=passes), 10).items("finding")[0]
    assert first["finding.id"] == "RFC8166-3.3.1-4"
    assert first["finding.level"] == "MUST NOT"
    assert (first["finding.document"], first["finding.section"]) == ("RFC8166", "3.3.1")
    assert first["finding.culprit"] == "client"
    assert first["finding.expected"] == "at most 2 outstanding calls, as granted"
    assert "outstanding call 3" in first["finding.observed"]
    assert first["rule"] == "calls_stay_within_grant"
    assert (first["finding.frame"], first["finding.connection"]) == ("10", "1")


def test_transaction(wireshark, passes):
    frames = wireshark.frames(OVERRUN, passes=passes)
    call, reply = frame(frames, 8), frame(frames, 11)
    assert (call.one("xid"), call.one("direction")) == ("0x00000a01", "forward")
    assert (call.one("credits.requested"), call.one("credits.granted")) == ("2", "2")
    assert [frame(frames, n).one("credits.in_flight") for n in (8, 9, 10, 11)] == list("1232")
    assert reply.one("call_frame") == "8"
    assert float(reply.one("response_time")) == 0.003
    # A single pass cannot show later frames.
    assert call.all("answer_frame") == (["11"] if passes == 2 else [])


def test_chunks_and_operations(wireshark, passes):
    frames = wireshark.frames(READ, passes=passes)
    (chunk,) = frame(frames, 8).items("message")[0]["chunks"]
    assert chunk == {"chunk": "write", "handle": "0x0000ab01", "length": "1024"} | {
        "offset": "0x0000000000010000"
    }
    (write,) = frame(frames, 9).items("operation")
    assert (write["operation"], write["operation.stag"]) == ("write", "0x0000ab01")
    assert (write["operation.length"], write["call_frame"]) == ("1024", "8")
    assert write["xid"] == "0x00000301"


def test_direct_access(wireshark, passes):
    """A user's HELLO, its ticket, a Read that finds its frame revoked, and the READ that takes its place."""
    frames = wireshark.frames(STORY, passes=passes)
    assert frame(frames, 9).one("direct.procedure") == "HELLO"
    ticket = frame(frames, 13).one("private_data.ticket")
    assert len(ticket.replace(":", "")) == 32
    assert frame(frames, 14).all("private_data.ticket") == []
    reply, revoked, fallback = (frame(frames, number) for number in (16, 26, 27))
    assert reply.one("direct.references") == "1"
    assert revoked.one("block") == "revoked"
    assert (revoked.one("block.offset"), revoked.one("block.length")) == ("0", "1000")
    assert (revoked.one("block.grant_frame"), revoked.one("block.request_frame")) == ("16", "25")
    assert revoked.one("block.file") != frame(frames, 34).one("block.file")
    assert fallback.one("direct.fallback") == "26"
    assert [each["operation"] for each in frame(frames, 34).items("operation")] == ["fault"]


def numbers(wireshark, capture, display_filter, *arguments, passes):
    """Frames that match a display filter."""
    text = wireshark.tshark(
        *(capture, "-Y", display_filter, "-T", "fields", "-e", "frame.number", *arguments),
        passes=passes,
    )
    return [int(number) for number in text.split()]


def test_display_filters(wireshark, passes):
    def matches(display_filter):
        return numbers(wireshark, OVERRUN, display_filter, passes=passes)

    assert matches('steertag.finding.id == "RFC8166-3.3.1-4"') == [10]
    assert matches("steertag.must") == [10]
    assert matches("steertag.credits.in_flight > steertag.credits.granted") == [10]
    assert matches("steertag.xid == 0xa01") == [8, 11]
    assert matches('steertag.message == "reply" and steertag.call_frame == 9') == [12]
    assert matches("steertag") == [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]


def test_column(wireshark, passes):
    lines = wireshark.tshark(OVERRUN, passes=passes).splitlines()
    marked = [line for line in lines if "RFC" in line]
    assert marked == [lines[9]]
    assert lines[9].endswith("[RFC8166-3.3.1-4] [RFC8166-3.3.1-6]")


def test_expert_information(wireshark, passes):
    """Without a tree too."""
    text = wireshark.tshark(OVERRUN, "-q", "-z", "expert,error,steertag", passes=passes)
    assert (
        "RFC8166-3.3.1-4 (MUST NOT RFC8166 section 3.3.1), by the client: expected at most 2"
        in text
    )
    assert "Errors (2)" in text


def test_statistics(wireshark, passes):
    text = wireshark.tshark(READ, "-q", "-z", "steertag,tree", passes=passes)
    rows = [line.split() for line in text.splitlines()]
    assert ["Connections", "1"] in [row[:2] for row in rows], text
    assert ["call,", "forward", "2"] in [row[:3] for row in rows], text
    assert ["reply,", "forward", "2"] in [row[:3] for row in rows], text
    assert ["write,", "in", "a", "call", "1"] in [row[:5] for row in rows], text
    assert ["RDMA", "operations", "1"] in [row[:3] for row in rows], text
    assert ["Findings", "0"] in [row[:2] for row in rows], text


def test_statistics_count_every_segment(wireshark, home, passes):
    """More than the plugin keeps to show."""
    capture = Capture()
    link = Iwarp(capture)
    link.open()
    segments = [(0xAB01 + number, 16, 0x1000) for number in range(100)]
    link.send(CLIENT, messages.read_call(1, 1600, writes=messages.write_list(segments)))
    link.close()
    path = home / "many-segments.pcapng"
    capture.write(path)
    text = wireshark.tshark(path, "-q", "-z", "steertag,tree", passes=passes)
    rows = [line.split() for line in text.splitlines()]
    assert ["Chunk", "segments", "100"] in [row[:3] for row in rows], text
    assert ["write,", "in", "a", "call", "100"] in [row[:5] for row in rows], text
    (shown,) = [one for one in wireshark.frames(path, passes=passes) if one.all("message")]
    (message,) = shown.items("message")
    assert (len(message["chunks"]), message["chunk.not_shown"]) == (64, "36")


def test_statistics_of_findings(wireshark, passes):
    text = wireshark.tshark(OVERRUN, "-q", "-z", "steertag,tree", passes=passes)
    rows = [line.split() for line in text.splitlines()]
    assert ["Findings", "2"] in [row[:2] for row in rows], text
    assert ["RFC8166-3.3.1-4", "1"] in [row[:2] for row in rows], text
    assert [row[:4] for row in rows].count(["by", "the", "client", "1"]) == 2, text


def test_levels(wireshark, home, passes):
    """A broken SHOULD is a warning, unless the preferences select only MUST."""
    capture = Capture()
    link = Iwarp(capture)
    link.open()
    arguments = messages.opaque(messages.HANDLE) + bytes(8) + messages.words(5, 2, 5)
    call = messages.call(1, 7, arguments)
    with_roundup = messages.read_list((len(call), 0xAB01, 8, 0x10000))
    number = link.send(CLIENT, messages.header(1, call, reads=with_roundup))
    link.read(SERVER, 0xAB01, 0x10000, b"hello\0\0\0")
    link.send(SERVER, messages.write_reply(1, 5))
    path = home / "levels.pcapng"
    capture.write(path)
    expected = [tshark.Finding(number, "RFC8166-3.4.5.2-1", "client")]
    assert wireshark.findings(path, passes=passes) == expected
    assert wireshark.findings(path, "-o", "steertag.levels:must", passes=passes) == []
    assert numbers(wireshark, path, "steertag.should", passes=passes) == [number]


@pytest.mark.parametrize("profile, ids", [("rfc8166", ["RFC8166-4.6.2-1"]), ("rfc5666", [])])
def test_profile(wireshark, profile, ids, passes):
    """RDMA_DONE, which RFC 8166 removed."""
    found = wireshark.findings(DONE, "-o", f"steertag.profile:{profile}", passes=passes)
    assert [finding.id for finding in found] == ids


def test_enable(wireshark, passes):
    frames = wireshark.frames(OVERRUN, "-o", "steertag.enable:FALSE", passes=passes)
    assert all(frame.empty for frame in frames)
    frames = wireshark.frames(OVERRUN, "--disable-protocol", "steertag", passes=passes)
    assert all(frame.empty for frame in frames)


def test_operations(wireshark, passes):
    assert numbers(wireshark, READ, "steertag.operation", passes=passes) == [9]
    off = ("-o", "steertag.operations:FALSE")
    assert numbers(wireshark, READ, "steertag.operation", *off, passes=passes) == []
    assert numbers(wireshark, READ, "steertag.message", *off, passes=passes) == [6, 7, 8, 10]


def test_ports(wireshark, home, passes):
    """On an unknown port a connection may begin with another protocol."""
    capture = Capture()
    link = Iwarp(capture, server_port=4100)
    link.open(client=None, server=None)
    link.send(CLIENT, b"what is this")
    path = home / "ports.pcapng"
    capture.write(path)
    assert wireshark.findings(path, passes=passes) == []
    found = wireshark.findings(path, "-o", "steertag.ports:4000,4100-4101", passes=passes)
    assert [finding.frame for finding in found] == [6]


def test_found_out_late(wireshark, home, passes):
    """A late frame is read when its predecessors are there, and its notes are its own."""
    capture = Capture()
    link = Iwarp(capture)
    link.open()
    early = link.send(CLIENT, messages.null_call(1))
    link.send(CLIENT, messages.words(2, 1, 32))  # too short for a header
    frames = capture.frames
    frames[early - 1], frames[early] = frames[early], frames[early - 1]
    path = home / "late.pcapng"
    capture.write(path)
    shown = wireshark.frames(path, passes=passes)
    (finding,) = [finding for frame in shown for finding in frame.findings()]
    assert finding.frame == early
    where = [frame.number for frame in shown if frame.findings()]
    assert where == ([early + 1] if passes == 1 else [early])
    belongs = [value for frame in shown for value in frame.all("frame")]
    assert set(belongs) == ({str(early)} if passes == 1 else set())

"""The situations in which Wireshark's own dissector is wrong: the plugin is right, in one pass and
in two."""

import pytest
import tshark

SITUATIONS = tshark.CAPTURES / "situations"
# The first messages of connections that are captured from their beginning.
OPENING = ["4 connect", "5 accept"]

# One line per item. A message has its XID and the frame of the call that it answers. An RDMA
# operation has the frame of the call with the memory, a finding its culprit, and a loss its kind.
EXPECTED = {
    "01-version-two": [
        *OPENING,
        "6 call 100",
        "7 reply 100 to 6",
        "8 faulty 101",
        "8 RFC8166-4.2.2-1 client",
        "9 error 101 to 8",
        "10 call 102",
        "11 reply 102 to 10",
    ],
    "02-short-send": [
        *OPENING,
        "6 call 200",
        "7 reply 200 to 6",
        "8 too short",
        "8 RFC8166-4.1.2-13 client",
        "9 call 202",
        "10 reply 202 to 9",
    ],
    "03-read-with-write-chunk": [
        *OPENING,
        "6 call 300",
        "7 reply 300 to 6",
        "8 call 301",
        "8 chunk write ab01",
        "9 write for 8",
        "10 reply 301 to 8",
        "10 chunk write ab01",
    ],
    "04-send-in-segments": [
        *OPENING,
        "6 call 400",
        "7 reply 400 to 6",
        "11 call 401",
        "12 reply 401 to 11",
    ],
    "05-several-in-one-segment": [
        *OPENING,
        "6 call 500",
        "7 reply 500 to 6",
        "8 call 501",
        "8 call 502",
        "8 call 503",
        "9 reply 501 to 8",
        "9 reply 502 to 8",
        "10 reply 503 to 8",
    ],
    "06-handle-shared": [
        *OPENING,
        "6 call 600",
        "7 reply 600 to 6",
        "8 call 601",
        "8 chunk write ab01",
        "8 chunk write ab01",
        "9 write for 8",
        "10 write for 8",
        "11 reply 601 to 8",
        "11 chunk write ab01",
        "11 chunk write ab01",
    ],
    "07-handle-used-again": [
        *OPENING,
        "6 call 700",
        "7 reply 700 to 6",
        "8 call 701",
        "8 chunk write ab01",
        "9 write for 8",
        "10 reply 701 to 8",
        "10 chunk write ab01",
        "11 call 702",
        "11 chunk write ab01",
        "12 write for 11",
        "13 reply 702 to 11",
        "13 chunk write ab01",
    ],
    "08-same-xid-both-ways": [
        *OPENING,
        "6 call 800",
        "7 reply 800 to 6",
        "8 call 801",
        "9 call 801 reverse",
        "10 reply 801 reverse to 9",
        "11 reply 801 to 8",
    ],
    "09-odd-boolean": [
        *OPENING,
        "6 call 900",
        "7 reply 900 to 6",
        "8 faulty 901",
        "8 RFC8166-4.1.2-5 client",
        "9 error 901 to 8",
        "10 call 902",
        "11 reply 902 to 10",
    ],
    "10-credit-overrun": [
        *OPENING,
        "6 call a00",
        "7 reply a00 to 6",
        "8 call a01",
        "9 call a02",
        "10 call a03",
        "10 RFC8166-3.3.1-4 client",
        "10 RFC8166-3.3.1-6 client",
        "11 reply a01 to 8",
        "12 reply a02 to 9",
        "13 reply a03 to 10",
    ],
    "10-credit-zero": [
        *OPENING,
        "6 call a10",
        "7 reply a10 to 6",
        "8 call a11",
        "9 reply a11 to 8",
        "9 RFC8166-3.3.1-5 server",
    ],
    "10-done": [
        *OPENING,
        "6 call a40",
        "7 reply a40 to 6",
        "8 done a41",
        "8 RFC8166-4.6.2-1 client",
        "9 call a42",
        "10 reply a42 to 9",
    ],
    "10-msgp": [
        *OPENING,
        "6 call a50",
        "7 reply a50 to 6",
        "8 msgp a51",
        "8 RFC8166-4.6.1-1 client",
        "9 reply a51 to 8",
    ],
    "10-orphan-reply": [
        *OPENING,
        "6 call a20",
        "7 reply a20 to 6",
        "8 reply a21",
        "8 RFC8166-3.3.1-11 server",
        "9 call a22",
        "10 reply a22 to 9",
    ],
    "10-over-threshold": [
        *OPENING,
        "6 call a30",
        "7 reply a30 to 6",
        "8 call a31",
        "8 RFC8797-4.2-4 client",
        "9 reply a31 to 8",
    ],
    "11-roce-without-cm": [
        "1 not judged",
        "1 not judged",
        "1 call b00",
        "3 reply b00 to 1",
        "5 call b01",
        "5 chunk write ab01",
        "7 write for 5",
        "9 reply b01 to 5",
        "9 chunk write ab01",
        "11 call b02",
        "15 reply b02 to 11",
    ],
    "12-joined-mid-stream": [
        "1 not judged",
        "2 not judged",
        "2 reply c01",
        "3 call c02",
        "4 reply c02 to 3",
        "5 call c03",
        "5 chunk write ab01",
        "6 write for 5",
        "7 reply c03 to 5",
        "7 chunk write ab01",
    ],
    "13-solicited-events": [
        *OPENING,
        "6 call d00",
        "7 reply d00 to 6",
        "8 call d01",
        "8 chunk write ab01",
        "9 write for 8",
        "10 reply d01 to 8",
        "10 chunk write ab01",
        "10 invalidates ab01",
    ],
}
# Wireshark's own dissectors of RDMA and of the protocols above it.
BUILT_IN = ["iwarp_mpa", "iwarp_ddp_rdmap", "infiniband", "rpcordma", "rpc", "nfs"]


def message_lines(message):
    line = message["message"]
    if "xid" in message:
        line += f" {int(message['xid'], 16):x}"
    if message["direction"] == "reverse":
        line += " reverse"
    yield line + (f" to {message['call_frame']}" if "call_frame" in message else "")
    yield from (
        f"chunk {chunk['chunk']} {int(chunk['handle'], 16):x}" for chunk in message["chunks"]
    )
    if "invalidated" in message:
        yield f"invalidates {int(message['invalidated'], 16):x}"


def lines_of(frame):
    """Yields (frame, line of EXPECTED) of the items under a frame, also those about another frame."""
    found = []
    for item in frame.items("opening"):
        found.append((item.get("frame"), item["opening"]))
    for item in frame.items("loss"):
        found.append((item.get("frame"), "not judged"))
    for item in frame.items("message"):
        found += [(item.get("frame"), line) for line in message_lines(item)]
    for item in frame.items("operation"):
        found.append((item.get("frame"), f"{item['operation']} for {item['call_frame']}"))
    for finding in frame.findings():
        found.append((finding.frame, f"{finding.id} {finding.culprit}"))
    return [(int(own or frame.number), line) for own, line in found]


def lines_of_all(frames):
    """By the frame that an item is about. A single pass shows it elsewhere."""
    found = [item for frame in frames for item in lines_of(frame)]
    return [f"{number} {line}" for number, line in sorted(found, key=lambda item: item[0])]


@pytest.mark.parametrize("name", EXPECTED)
def test_situation(wireshark, name, passes):
    frames = wireshark.frames(SITUATIONS / f"{name}.pcapng", passes=passes)
    assert lines_of_all(frames) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_without_the_built_in_dissectors(wireshark, name):
    off = [word for protocol in BUILT_IN for word in ("--disable-protocol", protocol)]
    frames = wireshark.frames(SITUATIONS / f"{name}.pcapng", *off)
    assert lines_of_all(frames) == EXPECTED[name]


def test_every_situation_has_its_capture():
    assert sorted(path.stem for path in SITUATIONS.glob("*.pcapng")) == sorted(EXPECTED)

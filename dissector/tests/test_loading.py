"""The plugin loads, its names are the documented ones, and files do not mix."""

import re

import tshark
from frames import CLIENT, SERVER, Capture, Iwarp

README = tshark.PROJECT / "dissector" / "README.md"
SITUATIONS = tshark.CAPTURES / "situations"


def test_loads_without_a_word(wireshark):
    output = wireshark.run("tshark", "-G", "plugins")
    assert (output.status, output.errors) == (0, "")
    (line,) = [line for line in output.text.splitlines() if line.startswith("steertag.so")]
    assert line.split("\t")[2] == "dissector"


def names(wireshark, what):
    output = wireshark.run("tshark", "-G", what)
    assert output.status == 0, output.errors
    return output.text


def test_fields_are_the_documented_ones(wireshark):
    rows = [line.split("\t") for line in names(wireshark, "fields").splitlines()]
    registered = {row[2] for row in rows if row[2].startswith("steertag.")}
    documented = set(re.findall(r"^\| `(steertag\.[a-z_.]+)` \|", README.read_text(), re.MULTILINE))
    assert registered == documented


def test_preferences_are_the_documented_ones(wireshark):
    text = names(wireshark, "currentprefs")
    registered = set(re.findall(r"^#?(steertag\.\w+):", text, re.MULTILINE))
    documented = set(re.findall(r"^\| `-o (steertag\.\w+):", README.read_text(), re.MULTILINE))
    assert registered == documented


def test_says_nothing_of_other_traffic(wireshark, home, passes):
    """Frames without RDMA: two hosts that speak HTTP."""
    capture = Capture()
    link = Iwarp(capture, server_port=80)
    link.octets(CLIENT, b"GET / HTTP/1.1\r\nHost: example.net\r\n\r\n")
    link.octets(SERVER, b"HTTP/1.1 204 No Content\r\n\r\n")
    capture.write(home / "http.pcapng")
    assert all(frame.empty for frame in wireshark.frames(home / "http.pcapng", passes=passes))


def verdicts(answer):
    """Frames with findings, from sharkd's expert information."""
    (tap,) = answer["taps"]
    return [detail["f"] for detail in tap["details"] if detail["p"] == "Steertag"]


def test_files_one_after_the_other(wireshark):
    """The plugin frees a file's data with the file. Several turns let a sanitizer detect leaks."""
    bad = wireshark.readable(SITUATIONS / "10-credit-zero.pcapng")
    good = wireshark.readable(SITUATIONS / "03-read-with-write-chunk.pcapng")
    requests = []
    for path in (bad, good) * 3:
        requests += [("load", {"file": str(path)}), ("tap", {"tap0": "expert"}), ("frames", {})]
    answers = wireshark.sharkd(*requests)
    assert [verdicts(answer) for answer in answers[1::3]] == [[9], []] * 3
    infos = [answer[8]["c"][-1] for answer in answers[2::3]]
    assert ["RFC8166" in info for info in infos] == [True, False] * 3

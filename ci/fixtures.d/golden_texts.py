"""The golden texts: beside each capture, what `steertag grade` and tshark with the plugin print of it."""

import contextlib
import io
import os
import pathlib
import sys

from fixture_places import CAPTURES, PROJECT, CannotMake

sys.path.insert(0, str(PROJECT / "dissector" / "tests"))

SUFFIXES = (".pcapng", ".pcap")
# Where each part of a text begins.
GRADE, TSHARK = "$ steertag grade", "$ tshark"
# What the plugin says of a frame: enough to see what it was taken for, and each finding.
FIELDS = (
    "frame.number",
    "steertag.connection",
    "steertag.sender",
    "steertag.procedure",
    "steertag.xid",
    "steertag.credits",
    "steertag.length",
    "steertag.finding.id",
    "steertag.finding.frame",
    "steertag.finding.culprit",
)
# Of a long recording only frames with findings are listed, and the beginning.
MOST_LINES = 60


def all_captures():
    """Every capture that has a text, in the order of their names."""
    found = (path for path in CAPTURES.rglob("*") if path.suffix in SUFFIXES)
    return sorted(found)


def text_path(capture):
    return capture.with_name(f"{capture.name}.txt")


def grade(capture):
    """What `steertag grade` prints of a capture, with its exit status."""
    sys.path.insert(0, str(PROJECT / "bindings" / "python"))
    from steertag.cli import main

    output = io.StringIO()
    before = os.getcwd()
    os.chdir(capture.parent)  # so that the text names the file alone
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = main(["grade", capture.name])
    finally:
        os.chdir(before)
    return f"{GRADE} {capture.name}\n{output.getvalue()}exit status {status}\n"


def shown(wireshark, capture):
    """What tshark shows of the frames in which the plugin found something; `wireshark` is what
    dissector/tests/tshark.py has."""
    options = [part for name in FIELDS for part in ("-e", name)]
    options = ["-Y", "steertag", "-T", "fields", "-E", "separator=/s", "-E", "quote=n", *options]
    output = wireshark.run("tshark", "-n", "-r", wireshark.readable(capture), *options)
    lines = output.text.splitlines()
    if "steertag" in output.errors:
        lines.append(output.errors)
    return "\n".join([f"{TSHARK} {capture.name}", *lines, f"exit status {output.status}", ""])


def parts(text):
    """(grade's part, tshark's part) of a golden text; the second is empty if it is not there."""
    place = text.find(f"{TSHARK} ")
    return (text, "") if place < 0 else (text[:place], text[place:])


def write(captures, wireshark):
    """Writes the texts of the captures anew; without `wireshark` the part of tshark stays as it is."""
    for capture in captures:
        path = text_path(capture)
        old = path.read_text() if path.exists() else ""
        second = shown(wireshark, capture) if wireshark else parts(old)[1]
        path.write_text(grade(capture) + second)


def stale():
    """Texts whose capture has gone."""
    known = {text_path(capture) for capture in all_captures()}
    found = (path for path in CAPTURES.rglob("*.txt") if path.stem.endswith(SUFFIXES))
    return sorted(set(found) - known)


def chosen(names):
    """The captures with these file names, or all."""
    captures = all_captures()
    picked = [capture for capture in captures if not names or capture.name in names]
    missing = set(names) - {capture.name for capture in picked}
    if missing:
        raise CannotMake(f"there is no capture {', '.join(sorted(missing))}")
    return picked

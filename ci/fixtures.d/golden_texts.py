"""The golden texts: beside each capture, what `steertag grade` and tshark with the plugin print of it."""

import concurrent.futures
import contextlib
import io
import os
import pathlib
import shutil
import sys
import tempfile

from fixture_places import CAPTURES, PROJECT, CannotMake, build_directory

for folder in ("bindings/python", "dissector/tests"):
    sys.path.insert(0, str(PROJECT / folder))

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


def all_captures():
    """Every capture that has a text, in the order of their names."""
    found = (path for path in CAPTURES.rglob("*") if path.suffix in SUFFIXES)
    return sorted(found)


def text_path(capture):
    return capture.with_name(f"{capture.name}.txt")


def grade(capture):
    """What `steertag grade` prints of a capture, with its exit status."""
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


def why_no_tshark():
    """Why tshark with the plugin cannot be run, or None."""
    if shutil.which("tshark") is None:
        return "tshark is not installed"
    if not list(build_directory().glob("plugins/*/epan/steertag.so")):
        return f"{build_directory()} has no plugin: build it with -DSTEERTAG_DISSECTOR=ON"
    return None


def need_plugin():
    """CannotMake if tshark with the plugin cannot be run."""
    if reason := why_no_tshark():
        raise CannotMake(reason)


def wireshark(home):
    """Wireshark's programs with the plugin, in an empty directory that is then another user's too."""
    import tshark

    home = pathlib.Path(home)
    home.chmod(0o777)
    return tshark.Wireshark(home)


def shown(wireshark, capture):
    """What tshark shows of the frames in which the plugin found something."""
    options = [part for name in FIELDS for part in ("-e", name)]
    options = ["-Y", "steertag", "-T", "fields", "-E", "separator=|", "-E", "quote=n", *options]
    output = wireshark.run("tshark", "-n", "-r", wireshark.readable(capture), *options)
    return f"{TSHARK} {capture.name}\n{output.text}exit status {output.status}\n"


def parts(text):
    """(grade's part, tshark's part) of a golden text."""
    place = text.index(f"\n{TSHARK} ")
    return text[:place], text[place + 1 :]


def write(captures, jobs):
    """Writes the texts of the captures anew, in so many processes."""
    shares = [captures[number::jobs] for number in range(jobs)]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        list(pool.map(_write_share, shares))


def _write_share(captures):
    with tempfile.TemporaryDirectory(prefix="steertag-texts-") as home:
        programs = wireshark(home)
        for capture in captures:
            text_path(capture).write_text(f"{grade(capture)}\n{shown(programs, capture)}")


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

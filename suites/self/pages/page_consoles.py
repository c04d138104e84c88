"""The consoles of a page in Markdown: lines that begin with `$` are commands, and what stands below is their output."""

import dataclasses
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[3]
ANY = "..."  # any lines, or any part of a line
# Of all commands of a page. The longest takes ten seconds on an idle machine.
LIMIT_S = 300
# Ends the output of a command in that of the page.
END = "\x1e"
_INDENT = "    "
_PROMPT = "$ "
_BACKGROUND = " &"
# What differs from run to run, or with each new case: hexadecimal values, seconds, and numbers of two digits or more.
# RFCs and their sections do not.
_VARIABLE = re.compile(
    r"\b0x[0-9a-f]+\b|#[0-9a-f]{8}\b|\b\d+\.\d{2,}|(?<!RFC)(?<!RFC )(?<![\d.])(?:\d{1,3}(?:,\d{3})+|\d{2,})"
)
# Ports of the pages, which are free ones in a run.
_PORT = re.compile(r"(?<=:)(?:20049|20490|2049)\b")


@dataclasses.dataclass
class Command:
    """A command of a page, and the lines that it prints."""

    line: int  # in the page, from 1
    text: str
    output: list


def commands(text):
    """[Command] of a page, in order."""
    found, current, blank = [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(_INDENT + _PROMPT):
            current = Command(number, line[len(_INDENT + _PROMPT) :].split("  # ")[0].rstrip(), [])
            found.append(current)
        elif line.startswith(_INDENT) and current is not None:
            current.output += [""] * blank + [line[len(_INDENT) :]]
        elif line:
            current = None
        blank = 0 if line else blank + 1
    return found


def run(found, folder):
    """Runs the commands in an empty folder that shows the checkout; returns the lines of each."""
    for entry in PROJECT.iterdir():
        if entry.name not in ("build", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").mkdir()
    scripts = pathlib.Path(sys.executable).parent
    (folder / "build" / "venv").symlink_to(scripts.parent)
    own = ("PYTEST", "STEERTAG_NEED", "STEERTAG_SERVE", "STEERTAG_COPY", "COLUMNS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    environment["PATH"] = f"{scripts}:{environment['PATH']}"
    # In a process group of its own, which ends with it.
    words = ["timeout", f"--kill-after={LIMIT_S}", str(LIMIT_S), "bash", "-c", script(found)]
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    parts = [part.splitlines() for part in done.stdout.split(f"{END}\n")]
    assert len(parts) > len(found), f"the page's commands end early:\n{done.stdout}"
    return parts[: len(found)]


def script(found):
    """The commands in bash. One that ends with & runs to the end of the page, and the next waits for its lines."""
    lines = ["trap 'kill $jobs 2>&1; wait' EXIT", "jobs="]
    ports = {}
    for command in found:
        text = _PORT.sub(lambda port: ports.setdefault(port[0], _free_port()), command.text)
        if text.endswith(_BACKGROUND):
            lines.append(f"exec {{output}}< <(exec {text.removesuffix(_BACKGROUND)} 2>&1)")
            lines.append('jobs="$jobs $!"')
            for _ in command.output:
                lines.append('IFS= read -r line <&"$output"; printf "%s\\n" "$line"')
        else:
            lines.append(f"eval {shlex.quote(text)}")
        lines.append(f"status=$?; echo {END}; (exit $status)")
    return "\n".join(lines)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def difference(expected, seen):
    """The first line of the page that the output lacks, or of the output that the page lacks; None if they agree.
    Blank lines at the end do not count."""
    while seen and not seen[-1].strip():
        seen = seen[:-1]
    place = 0  # in `seen`
    skip = False  # whether lines may be left out here
    for line in expected:
        if line.strip() == ANY:
            skip = True
            continue
        pattern = _pattern(line)
        while skip and place < len(seen) and not pattern.fullmatch(_steady(seen[place])):
            place += 1
        if place == len(seen) or not pattern.fullmatch(_steady(seen[place])):
            return line
        place, skip = place + 1, False
    return None if skip or place == len(seen) else seen[place]


def _pattern(line):
    """A line of a page as a regular expression for a steady line."""
    return re.compile(".*".join(re.escape(_steady(part)) for part in line.split(ANY)))


def _steady(line):
    """A line without what differs from run to run, and without blanks and = that align."""
    return re.sub(r"([ =])\1+", r"\1", _VARIABLE.sub("N", line)).rstrip()

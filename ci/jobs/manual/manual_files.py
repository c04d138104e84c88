"""What docs/man/ and docs/completion/ hold."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from steertag import __version__, build_paths, cli

PROJECT = pathlib.Path(__file__).resolve().parents[3]
MAN, COMPLETION = PROJECT / "docs" / "man", PROJECT / "docs" / "completion"
LIMIT_S = 60
# argparse fills its help to this width, and help2man dates a page by the other: no page may change by itself.
_ENVIRONMENT = {"COLUMNS": "100", "SOURCE_DATE_EPOCH": "0", "LC_ALL": "C.UTF-8"}
_DATE = "January 1970"  # of SOURCE_DATE_EPOCH; the version says more
_LAUNCHER = PROJECT / "build" / "venv" / "bin" / "steertag"
_EXCLUDED = re.compile("(?<=Excludes:)(?: --[a-z-]+)+")
_SHELLS = {"bash": "steertag.bash", "fish": "steertag.fish"}


class CannotMake(Exception):
    """A file cannot be made; the text is one sentence."""


def manual_files():
    """{path: text} of all files. Raises CannotMake."""
    for tool in ("help2man", "register-python-argcomplete"):
        if shutil.which(tool) is None:
            raise CannotMake(f"{tool} is not installed: run ci/setup --check")
    found = {MAN / f"{_page_name(command)}.1": _page(command, text) for command, text in commands()}
    for shell, name in _SHELLS.items():
        found[COMPLETION / name] = _run(
            ["register-python-argcomplete", "--shell", shell, "steertag"]
        )
    return found


def commands():
    """(words, one line on it) of each command with a page."""
    yield "steertag", "conformance of RPC-over-RDMA version 1 and NFS/RDMA"
    (commands,) = [each for each in cli.parser()._actions if isinstance(each.choices, dict)]
    for line in commands._choices_actions:
        yield f"steertag {line.dest}", line.help[0].lower() + line.help[1:]


def _page_name(command):
    return command.replace(" ", "-")


def _page(command, text):
    """help2man runs a script of the page's name that prints the help, with the usage as GNU programs have it."""
    words = command.split()[1:]
    program = build_paths.tool("steertag-serve") if words == ["serve"] else _LAUNCHER
    shown = _run([str(program), *(words if program == _LAUNCHER else ()), "--help"])
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, _page_name(command))
        script.with_suffix(".txt").write_text(
            _with_gnu_usage(_with_sorted_excludes(shown), program.parent)
        )
        script.write_text('#!/bin/sh\ncat "$0.txt"\n')
        script.chmod(0o755)
        made = _run(
            ["help2man", "--no-info", "--name", text, "--source", f"Steertag {__version__}"]
            + ["--version-string", __version__, "--manual", "Steertag", str(script)]
        )
    return made.replace(f'"{_DATE}"', '""')


def _with_sorted_excludes(shown):
    """CLI11 orders the options that exclude another by their addresses in memory."""
    return _EXCLUDED.sub(
        lambda names: "".join(f" {name}" for name in sorted(names[0].split())), shown
    )


def _with_gnu_usage(shown, folder):
    """The help with its usage on one line that begins with "Usage:"."""
    shown = shown.replace(f"{folder}/", "")
    usage, blank, rest = shown.partition("\n\n")
    if usage.startswith("usage: "):
        usage = "U" + " ".join(usage.split())[1:]
    return usage + blank + rest


def _run(command):
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, **_ENVIRONMENT},
    )
    if done.returncode != 0:
        raise CannotMake(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout

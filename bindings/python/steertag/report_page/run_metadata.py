"""When, where and by which command something was judged: for report.json and for pages."""

import datetime
import os
import pathlib
import platform
import shlex

from .. import __version__


# What the user typed, if the command became another one: an environment variable.
TYPED_COMMAND = "STEERTAG_TYPED_COMMAND"


def run_metadata(words, started, seconds, versions=None):
    """The metadata in JSON types. `words` are those of the command, as in sys.argv. `started` is a datetime with its
    zone, `seconds` the duration. `versions` are {name: version} of what else took part."""
    return {
        "started": started.astimezone(datetime.timezone.utc).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "command": os.environ.get(TYPED_COMMAND) or shlex.join([_program(words[0]), *words[1:]]),
        "versions": {
            "steertag": __version__,
            "python": platform.python_version(),
            **(versions or {}),
        },
    }


def metadata_facts(metadata):
    """[label, text] of the metadata for a page."""
    started = datetime.datetime.fromisoformat(metadata["started"])
    yield "date", f"{started:%Y-%m-%d %H:%M:%S} UTC, {metadata['seconds']:.1f} s"
    yield "host", f"{metadata['host']}, {metadata['system']}"
    yield "command", metadata["command"]
    yield "versions", ", ".join(f"{name} {is_}" for name, is_ in metadata["versions"].items())


def typed_program(path):
    """The words that start what the user typed: `steertag test`, or pytest. `path` is that of the program."""
    return " ".join(os.environ.get(TYPED_COMMAND, "").split()[:2]) or _program(path)


def _program(path):
    """The program as it can be typed: `python -m pytest` has the path of a module in its place."""
    path = pathlib.PurePath(path)
    return path.parent.name if path.name == "__main__.py" else path.name

"""The baselines that come with the project."""

import pathlib
import re

from .. import build_paths


def baselines():
    """{name of the target: path of its file}"""
    folder = build_paths.shipped("fixtures", "baselines")
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def path_of(argument):
    """The path of a file, or of the shipped baseline with this name. It need not exist."""
    path = pathlib.Path(argument)
    return path if path.exists() else baselines().get(str(argument), path)


def reading_order(name):
    """The sort key of a target's name: servers before clients, numbers by their value."""
    words = re.split(r"(\d+)", name)
    parts = [(int(word), "") if word.isdigit() else (0, word) for word in words]
    return "client" in name, parts

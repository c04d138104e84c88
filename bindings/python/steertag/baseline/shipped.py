"""The baselines that come with the project."""

import re

from .. import build_paths


def baselines():
    """{name of the target: path of its file}; empty for an installed package."""
    root = build_paths.checkout()
    folder = root / "fixtures" / "baselines" if root else None
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))} if folder else {}


def reading_order(name):
    """The sort key of a target's name: servers before clients, numbers by their value."""
    words = re.split(r"(\d+)", name)
    parts = [(int(word), "") if word.isdigit() else (0, word) for word in words]
    return "client" in name, parts

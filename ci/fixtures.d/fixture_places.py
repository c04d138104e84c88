"""Where fixtures are, and the programs that make them."""

import os
import pathlib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
CAPTURES = PROJECT / "fixtures" / "captures"
DEVIATIONS, CONFORMING = CAPTURES / "deviations", CAPTURES / "conforming"
PYTHON = PROJECT / "build" / "venv" / "bin" / "python"


def build_directory():
    """The build whose programs are used."""
    return pathlib.Path(os.environ.get("STEERTAG_BUILD") or PROJECT / "build" / "release").resolve()


class CannotMake(Exception):
    """A fixture cannot be made; the text is one sentence."""

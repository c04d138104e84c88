"""Finds the native parts of Steertag: the extension module `_engine` and the tools.

A build directory holds `python/steertag/_engine*.so` and `tools/steertag-serve`. The environment
variable STEERTAG_BUILD names it; the default is `build/release` of this file's checkout. An
installed package has `_engine` beside this file and needs neither.
"""

import os
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parent


def checkout():
    """The root of the source checkout, or None for an installed package."""
    root = PACKAGE.parents[2]
    return root if (root / "CMakePresets.json").is_file() else None


def build_directory():
    """The build directory as a path, or None without a variable and a checkout."""
    named = os.environ.get("STEERTAG_BUILD")
    if named:
        return pathlib.Path(named).resolve()
    root = checkout()
    return root / "build" / "release" if root else None


def engine_directory():
    """The directory that holds `_engine*.so` outside the package, or None."""
    build = build_directory()
    return build / "python" / "steertag" if build else None


def tool(name):
    """The path of a native tool of the build ("steertag-serve"), whether it exists or not."""
    build = build_directory()
    return (build / "tools" / name) if build else PACKAGE / "tools" / name

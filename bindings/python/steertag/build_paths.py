"""Finds what is outside of the package in a checkout: the extension module `_engine`, the tools, suites and baselines.

A build directory holds `python/steertag/_engine*.so` and `tools/steertag-serve`. The environment
variable STEERTAG_BUILD names it; the default is `build/release` of this file's checkout. An
installed package has all of it inside and needs neither.
"""

import os
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parent
# Where a run leaves its report, unless told otherwise: in the working directory.
REPORT = pathlib.Path("build", "report")


def checkout():
    """The root of the source checkout, or None for an installed package."""
    root = PACKAGE.parents[2]
    return root if (root / "CMakePresets.json").is_file() else None


def shipped(*names):
    """A path below the root of the checkout, or below an installed package, which has it too."""
    return (checkout() or PACKAGE).joinpath(*names)


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

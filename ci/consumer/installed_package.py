"""The installed Python package, used from outside of the checkout: it is the installed one, and complete."""

import os

import steertag
from steertag import build_paths, wire

place = os.environ["PYTHONPATH"]
assert steertag.__file__.startswith(place), steertag.__file__
assert wire.Draft, wire
for name in ("py.typed", "wire.pyi", "nfs/nfs4.pyi", "suites/server/messages/test_header.py"):
    assert (build_paths.PACKAGE / name).is_file(), name
for program in ("steertag-serve", "steertag-copy"):
    assert build_paths.tool(program).is_file(), build_paths.tool(program)

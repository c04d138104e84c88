"""What the commands of ci/ decide, one package a command or subject. Importing it makes importable what the
jobs use and what is in no package: readers of captures, and the programs of Wireshark."""

import pathlib
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]

for _folder in ("bindings/python", "fixtures/captures/lib", "dissector/tests"):
    if str(PROJECT / _folder) not in sys.path:
        sys.path.append(str(PROJECT / _folder))

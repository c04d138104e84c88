"""Modules of this folder that its tests share are imported by name, whatever imports the tests."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

"""The type stubs have every public name of the engine's modules, and mypy checks programs by them."""

import ast
import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

from steertag import build_paths

LIMIT_S = 120
RIGHT = """\
from steertag import nfs, trace, wire

header, payload = wire.decode(wire.encode(wire.Header(xid=1)), dialect="rfc5666")
draft: wire.Draft = wire.draft_of(b"octets")
draft.xid = 7
size: int = wire.Reader(b"").remaining
arguments = nfs.nfs3.AccessArgs()
role: trace.Role
"""
WRONG = """\
from steertag import wire

wire.Header(no_such_field=1)
wire.no_such_function()
wire.draft_of(7)
text: str = wire.Reader(b"").remaining
"""


@pytest.fixture(scope="module")
def stubs():
    path = build_paths.checkout() / "bindings" / "stubs.py"
    spec = importlib.util.spec_from_file_location("stubs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(stubs, tmp_path_factory):
    """A folder with a package `steertag` of the stubs and of what they take from it."""
    place = tmp_path_factory.mktemp("stubs")
    stubs.write(place / "steertag")
    for name in ("__init__.py", "py.typed", "decode_error.py", "data_class.py"):
        shutil.copy(build_paths.PACKAGE / name, place / "steertag")
    return place


def names_in(path):
    """The names that a stub defines."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.update(each.id for each in node.targets)
    return found


def test_every_public_name_has_a_stub(stubs, folder):
    modules = stubs.modules()
    assert {"wire", "fabric", "nfs.nfs4", "rpc.configuration"} <= modules.keys()
    for name, module in modules.items():
        path = folder / "steertag" / pathlib.Path(*name.split("."))
        path = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
        values = vars(module).items()
        public = {key for key, value in values if key[0] != "_" and type(value) is not type(sys)}
        assert public <= names_in(path), path


def mypy(folder, text):
    (folder / "program.py").write_text(text)
    done = subprocess.run(
        ["/usr/bin/python3", "-m", "mypy", "--strict", "program.py"],
        cwd=folder,
        env={"MYPYPATH": str(folder), "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.stdout and not done.stderr, done.stderr
    return done.stdout


def refused(said, file):
    """The lines of a file that mypy refuses."""
    return {int(row.split(":")[1]) for row in said.splitlines() if row.startswith(f"{file}:")}


def test_mypy_accepts_a_right_program(folder):
    said = mypy(folder, RIGHT)
    assert not refused(said, "program.py"), said
    assert ".pyi" not in said, said


def test_mypy_refuses_each_wrong_line(folder):
    said = mypy(folder, WRONG)
    assert refused(said, "program.py") == {3, 4, 5, 6}, said

"""Tests of packing a program of the host for the guest."""

import pathlib
import subprocess

import pytest

from lab.failure import LabFailure
from lab.images import program


def test_the_packed_program_runs_with_the_libraries_beside_it(tmp_path):
    root = tmp_path / "root.cpio"
    root.write_bytes(b"the first archive")
    scratch = tmp_path / "scratch"
    echo = pathlib.Path("/bin/echo").resolve()
    whole = program.append(echo, ["a b", "c"], {"NAME": "some value"}, root, scratch)
    packed = whole.read_bytes()
    assert packed.startswith(b"the first archive")
    folder = scratch / "root" / program.GUEST_DIRECTORY
    script = (folder / "run").read_text().replace(f"/{program.GUEST_DIRECTORY}", str(folder))
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "a b c\n"
    assert "NAME='some value'" in script


def test_programs_beside_it_are_found_by_their_path(tmp_path):
    root = tmp_path / "root.cpio"
    root.write_bytes(b"")
    scratch = tmp_path / "scratch"
    echo, cat = (pathlib.Path("/bin", name).resolve() for name in ("echo", "cat"))
    program.append(cat, [], {}, root, scratch, beside=(echo,))
    packed = scratch / "root" / program.guest_path(echo).lstrip("/")
    place = f"/{program.GUEST_DIRECTORY}"
    packed.write_text(packed.read_text().replace(place, str(scratch / "root" / place.lstrip("/"))))
    done = subprocess.run([packed, "a b", "c"], capture_output=True, text=True, check=True)
    assert done.stdout == "a b c\n"


def test_a_script_is_no_program(tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(LabFailure):
        program.append(script, [], {}, tmp_path / "none", tmp_path / "scratch")

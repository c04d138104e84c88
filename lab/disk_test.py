"""Tests of what `ci/lab clean` removes and what it leaves."""

import os

import pytest

from lab import disk, target as targets
from lab.failure import LabFailure
from lab.machines import session

OCTETS = 1 << 20


@pytest.fixture
def build(tmp_path, monkeypatch):
    """A build directory with two targets and fetched packages, beside files of others."""
    folder = tmp_path / "build" / "lab"
    monkeypatch.setattr(targets, "BUILD", folder)
    for name in ("one", "two", "packages"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_bytes(os.urandom(OCTETS))
    (tmp_path / "build" / "other").write_text("not of the lab")
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_all_goes_and_nothing_beside_it(build):
    outside = build.parent / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (build / "one" / "link").symlink_to(outside)
    (build / "link").symlink_to(outside)
    freed = disk.clean()
    assert 3 * OCTETS <= freed < 4 * OCTETS
    assert names(build) == []
    assert names(outside) == ["kept"] and names(build.parent) == ["lab", "other", "outside"]


def test_named_targets_go_alone(build):
    assert OCTETS <= disk.clean(["one", "not-built"]) < 2 * OCTETS
    assert names(build) == ["packages", "two"]


@pytest.mark.parametrize("used", ["two", "packages"])
def test_nothing_goes_while_a_part_is_used(build, used):
    with session.held(build / used / disk.LOCK, used):
        with pytest.raises(LabFailure, match=f"another ci/lab is using {used}"):
            disk.clean()
    assert names(build) == ["one", "packages", "two"]
    assert all((build / name / "file").exists() for name in names(build))


def test_nothing_there_is_nothing_freed(tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "BUILD", tmp_path / "none")
    assert disk.clean() == 0


def test_a_file_with_two_names_counts_once(build):
    before = disk.size_bytes(build)
    (build / "two" / "other").hardlink_to(build / "one" / "file")
    assert disk.size_bytes(build) - before < OCTETS

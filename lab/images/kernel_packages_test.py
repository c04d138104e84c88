"""Tests of the choice of a target's kernel, without apt."""

import types

import pytest

from lab.failure import LabFailure
from lab.images import kernel_packages
from lab.images.debian import Package
from lab.target import Kernel, Pin

META = ["linux-image-amd64", "linux-source-6.1"]
WANTED = ("linux-image-6.1.0-56-amd64=6.1.192-2", "linux-source-6.1=6.1.192-2")
PINNED = ["linux-image-6.1.0-56-amd64_6.1.192-2_amd64.deb", "linux-source-6.1_6.1.192-2_all.deb"]
NEWEST = ["linux-image-6.1.0-57-amd64_6.1.195-1_amd64.deb", "linux-source-6.1_6.1.195-1_all.deb"]
OTHERS = ["kmod_30-1_amd64.deb"]  # what a kernel depends on and a guest does not boot
GONE = "`apt-get ...` failed with status 100:\nE: Version '6.1.192-2' for 'linux-source-6.1' was not found"


class Archive:
    """What apt has: the files of each list of names. It counts how often it is asked."""

    def __init__(self, directory, listing):
        self.directory = directory
        self.asked = 0
        self._listing = listing

    def closure(self, names):
        self.asked += 1
        files = self._listing.get(tuple(names))
        if files is None:
            raise LabFailure(GONE)
        return [Package.of_file(file) for file in [*files, *OTHERS]]

    def fetch(self, packages):
        for package in packages:
            (self.directory / package.file).touch()


def target(tmp_path, pin=Pin("6.1.192-2", "6.1.0-56-amd64"), series="6.1"):
    kernel = Kernel(series, META, [], [], pin=pin)
    return types.SimpleNamespace(name="mine", kernel=kernel, directory=tmp_path / "mine")


def files(packages):
    return [package.file for package in packages]


def test_a_pin_names_release_and_version(tmp_path):
    archive = Archive(tmp_path, {WANTED: PINNED, tuple(META): NEWEST})
    found = kernel_packages.of(target(tmp_path), archive)
    assert files(found) == PINNED
    assert kernel_packages.version(found) == "6.1.192-2"


def test_apt_is_asked_for_a_pin_once(tmp_path):
    first = kernel_packages.of(target(tmp_path), Archive(tmp_path, {WANTED: PINNED}))
    without = Archive(tmp_path, {})
    assert kernel_packages.of(target(tmp_path), without) == first
    assert without.asked == 0
    (tmp_path / PINNED[0]).unlink()  # as after `ci/lab clean`
    with pytest.raises(LabFailure):
        kernel_packages.of(target(tmp_path), without)


def test_another_pin_is_not_the_one_that_was_kept(tmp_path):
    kernel_packages.of(target(tmp_path), Archive(tmp_path, {WANTED: PINNED}))
    archive = Archive(tmp_path, {tuple(META): NEWEST})
    assert (
        files(kernel_packages.of(target(tmp_path, Pin("6.1.1-1", "6.1.0-1-amd64")), archive))
        == NEWEST
    )


def test_without_its_pin_a_target_boots_the_newest_and_says_so(tmp_path, capsys):
    archive = Archive(tmp_path, {tuple(META): NEWEST})
    assert files(kernel_packages.of(target(tmp_path), archive)) == NEWEST
    (told,) = capsys.readouterr().err.splitlines()
    assert "does not have kernel 6.1.192-2, on which the rows of mine were seen" in told
    assert "Version '6.1.192-2' for 'linux-source-6.1' was not found" in told
    assert "it boots 6.1.195-1" in told


def test_a_target_without_a_pin_follows_the_newest_and_says_nothing(tmp_path, capsys):
    archive = Archive(tmp_path, {WANTED: PINNED, tuple(META): NEWEST})
    assert files(kernel_packages.of(target(tmp_path, pin=None), archive)) == NEWEST
    assert capsys.readouterr().err == ""


def test_another_series_is_refused(tmp_path):
    archive = Archive(tmp_path, {tuple(META): NEWEST})
    with pytest.raises(LabFailure, match="offers kernel 6.1.195-1, but the target needs 6.12"):
        kernel_packages.of(target(tmp_path, series="6.12"), archive)

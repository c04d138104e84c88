"""Tests of the table of targets, on a disk without and with an image."""

import pytest

from lab import command, inventory, target as targets
from lab.images import image


@pytest.fixture
def build(tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "PROJECT", tmp_path)
    monkeypatch.setattr(targets, "BUILD", tmp_path / "build" / "lab")
    return targets.BUILD


def cells(name):
    (line,) = [line for line in inventory.text().splitlines() if line.startswith(f"{name} ")]
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_a_target_that_is_not_built(build):
    pinned = targets.load("linux-6.1-siw").kernel.pin.version
    assert cells("linux-6.1-siw") == [
        *("linux-6.1-siw", "server", pinned, "iwarp", "3072 MB", "yes", "-", "-")
    ]
    assert not build.exists(), "a list writes nothing"


def test_pairs_clients_and_the_newest(build):
    assert cells("linux-6.1-rxe")[4:6] == ["2 x 3072 MB", "yes"]
    assert cells("client-linux-6.1-siw")[5] == "v4.1, v3"
    assert cells("linux-6.1-siw-newest")[2:6] == ["newest 6.1", "iwarp", "3072 MB", "-"]


def test_what_is_built_and_how_large_it_is(build):
    folder = targets.load("linux-6.1-siw").directory
    (folder / image.MODULES).mkdir(parents=True)
    (folder / image.MODULES / image.KERNEL_PACKAGE).write_text("6.1.176-1")
    assert cells("linux-6.1-siw")[6] == "-", "without a root file system there is no image"
    (folder / image.ROOT).write_bytes(bytes(5_000_000))
    assert cells("linux-6.1-siw")[6:] == ["6.1.176-1", "5 MB"]
    assert inventory.text().splitlines()[-1].startswith("build/lab: 5 MB, 0 MB of it")


def test_every_target_has_a_line(build, capsys):
    assert command.main(["list"]) == 0
    shown = capsys.readouterr().out
    for name in targets.names():
        assert f"{name} " in shown

"""An image with ext4 is made, mended and read without a mount."""

import subprocess

import pytest

from lab import host
from lab.power import disk_image
from lab.power.tree import Directory, File, Link

HAS_PROGRAMS = all(
    subprocess.run(
        ["sh", "-c", f"PATH={host.SEARCH_PATH}; command -v {name}"], capture_output=True
    ).returncode
    == 0
    for name in disk_image.PROGRAMS
)
pytestmark = pytest.mark.skipif(not HAS_PROGRAMS, reason="needs e2fsprogs")


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "image"
    disk_image.make(path)
    (tmp_path / "content").write_bytes(b"octets")
    commands = [
        "mkdir caller-0",
        f"write {tmp_path}/content caller-0/f",
        "set_inode_field caller-0/f mode 0100640",
        "symlink caller-0/l text",
        "mkdir caller-0/d",
        "set_inode_field caller-0/d mode 040700",
    ]
    (tmp_path / "commands").write_text("\n".join(commands))
    host.run(["debugfs", "-w", "-f", str(tmp_path / "commands"), str(path)], disk_image.LIMIT_S)
    return path


def test_what_is_on_it(image, tmp_path):
    assert disk_image.mend(image) == ""
    trees = disk_image.read(image, tmp_path / "files")
    assert list(trees) == ["caller-0"]
    objects = trees["caller-0"].objects
    assert objects["f"] == File(0o640, bytearray(b"octets"))
    assert objects["l"] == Link("text") and objects["d"] == Directory(0o700)
    assert sorted(objects) == ["", "d", "f", "l"]


def test_a_file_system_that_cannot_be_mended_is_told(image):
    with open(image, "r+b") as file:
        file.write(bytes(disk_image.IMAGE_BYTES))
    assert "the file system is damaged" in disk_image.mend(image)

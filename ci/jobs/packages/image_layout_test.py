"""The image layout holds together by digests and sizes, and its layer is the tar that it was made of."""

import gzip
import hashlib
import io
import json
import shutil
import subprocess
import tarfile

import pytest

from ci.jobs.packages import image_layout

NAME, OCTETS = "etc/hostname", b"name of a host\n"


@pytest.fixture
def layer():
    """A tar with one file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        row = tarfile.TarInfo(NAME)
        row.size = len(OCTETS)
        tar.addfile(row, io.BytesIO(OCTETS))
    return out.getvalue()


@pytest.fixture
def layout(tmp_path, layer):
    image_layout.write(tmp_path / "image", io.BytesIO(layer), "1.2", 0)
    return tmp_path / "image"


def blob(layout, descriptor):
    """The octets that a descriptor names, which are what it says of them."""
    algorithm, _, digest = descriptor["digest"].partition(":")
    octets = (layout / "blobs" / algorithm / digest).read_bytes()
    assert hashlib.new(algorithm, octets).hexdigest() == digest
    assert len(octets) == descriptor["size"]
    return octets


def test_descriptors_lead_from_the_index_to_the_layer(layout, layer):
    assert json.loads((layout / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
    (entry,) = json.loads((layout / "index.json").read_text())["manifests"]
    assert entry["annotations"] == {"org.opencontainers.image.ref.name": "1.2"}
    manifest = json.loads(blob(layout, entry))
    config = json.loads(blob(layout, manifest["config"]))
    assert config["config"]["Entrypoint"] == ["steertag"]
    assert config["created"] == "1970-01-01T00:00:00Z"
    (packed,) = manifest["layers"]
    assert gzip.decompress(blob(layout, packed)) == layer
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    assert len(list((layout / "blobs" / "sha256").iterdir())) == 3, "manifest, config, layer"


def test_the_same_layer_gives_the_same_octets(layout, layer, tmp_path):
    image_layout.write(tmp_path / "again", io.BytesIO(layer), "1.2", 0)
    files = [path.relative_to(layout) for path in layout.rglob("*") if path.is_file()]
    assert len(files) == 5
    for path in files:
        assert (layout / path).read_bytes() == (tmp_path / "again" / path).read_bytes(), path


@pytest.mark.skipif(shutil.which("umoci") is None, reason="umoci is not installed")
def test_another_program_unpacks_it(layout, tmp_path):
    command = ["umoci", "unpack", "--rootless", "--image", f"{layout}:1.2", tmp_path / "bundle"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert (tmp_path / "bundle" / "rootfs" / NAME).read_bytes() == OCTETS

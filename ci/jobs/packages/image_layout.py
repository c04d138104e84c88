"""Writes an image of one layer as an OCI image layout (OCI Image Format 1.0), without a daemon. As a command,
`image_layout FOLDER VERSION`, it reads the layer as tar from standard input."""

import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import time

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
ARCHITECTURE = "amd64"  # the only one that the packages are made for
# A report is written below the working directory, where users mount one of theirs.
RUN = {
    "Entrypoint": ["steertag"],
    "Cmd": ["--help"],
    "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"],
    "WorkingDir": "/results",
}
_CHUNK = 1 << 20
_LEVEL = 6  # of gzip: 9 takes three times as long for 1 %


class _Hashing(io.RawIOBase):
    """Writes to a file, with a digest and a count of what it has written."""

    def __init__(self, file):
        self._file = file
        self.digest = hashlib.sha256()
        self.octets = 0

    def writable(self):
        return True

    def write(self, octets):
        self.digest.update(octets)
        self.octets += len(octets)
        return self._file.write(octets)


def write(folder, tar, version, seconds):
    """Writes the layout into a new folder. `tar` is a readable file with the layer; `seconds` is the time of
    creation. The same input gives the same octets."""
    blobs = pathlib.Path(folder) / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    created = created.isoformat().replace("+00:00", "Z")
    layer, plain = _add_layer(blobs, tar)
    config = {
        "created": created,
        "architecture": ARCHITECTURE,
        "os": "linux",
        "config": RUN,
        "rootfs": {"type": "layers", "diff_ids": [plain]},
        "history": [{"created": created, "created_by": "ci/package --image"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": _add_json(blobs, CONFIG, config),
        "layers": [layer],
    }
    index = _add_json(blobs, MANIFEST, manifest)
    index["annotations"] = {"org.opencontainers.image.ref.name": version}
    _dump(pathlib.Path(folder) / "index.json", {"schemaVersion": 2, "manifests": [index]})
    _dump(pathlib.Path(folder) / "oci-layout", {"imageLayoutVersion": "1.0.0"})


def _add_layer(blobs, tar):
    """(descriptor of the compressed layer, digest of the tar)"""
    aside = blobs / "layer"
    plain = hashlib.sha256()
    with open(aside, "wb") as file:
        out = _Hashing(file)
        with gzip.GzipFile("", "wb", _LEVEL, out, mtime=0) as packed:
            while octets := tar.read(_CHUNK):
                plain.update(octets)
                packed.write(octets)
    aside.rename(blobs / out.digest.hexdigest())
    return _descriptor(LAYER, out.digest, out.octets), f"sha256:{plain.hexdigest()}"


def _add_json(blobs, media_type, value):
    octets = json.dumps(value, sort_keys=True).encode()
    digest = hashlib.sha256(octets)
    (blobs / digest.hexdigest()).write_bytes(octets)
    return _descriptor(media_type, digest, len(octets))


def _descriptor(media_type, digest, octets):
    return {"mediaType": media_type, "digest": f"sha256:{digest.hexdigest()}", "size": octets}


def _dump(path, value):
    path.write_text(json.dumps(value, sort_keys=True))


def main(arguments):
    folder, version = arguments
    write(folder, sys.stdin.buffer, version, int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))


if __name__ == "__main__":
    main(sys.argv[1:])

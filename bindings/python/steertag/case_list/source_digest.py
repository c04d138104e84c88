"""A digest of all that the list of cases depends on: sources, engine, and the tools that collect."""

import hashlib
import importlib.util
import os
import pathlib
import sys

from .. import build_paths

# Files of the suites and of the package that a collection reads, and settings of pytest.
_ENDINGS = (".py", ".yaml", ".toml", ".ini", ".cfg")
# Packages outside of the project that shape a collection. Their `__init__` stands for a version of them.
_TOOLS = ("pytest", "_pytest", "hypothesis", "pluggy", "yaml")
_VARIABLES = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
_ENGINE = "_engine*.so"


def source_digest(folders):
    """The digest of the cases in these folders as hexadecimal digits. File contents count, and not
    their times: a checkout or a copy may set any time."""
    folders = [folder.resolve() for folder in folders]
    digest = hashlib.blake2b(digest_size=32)
    for part in _surroundings(folders):
        _add(digest, part.encode())
    for path in sources(folders):
        _add(digest, os.fsencode(path))
        _add(digest, path.read_bytes())
    return digest.hexdigest()


def sources(folders):
    """The paths of the files that count, sorted. Tests beside modules do not."""
    found = set()
    for folder in (*{folder.parent for folder in folders}, build_paths.PACKAGE):
        found.update(_below(folder))
    checkout = build_paths.checkout()
    if checkout is not None:
        found.update(path for path in checkout.iterdir() if path.suffix in _ENDINGS)
    for folder in (build_paths.PACKAGE, build_paths.engine_directory()):
        if folder is not None:
            found.update(folder.glob(_ENGINE))
    return sorted(path for path in found if path.is_file())


def _below(folder):
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            if name.endswith(_ENDINGS) and not name.endswith("_test.py"):
                yield pathlib.Path(place, name)


def _surroundings(folders):
    yield sys.version
    yield from map(str, folders)
    for name in _VARIABLES:
        yield f"{name}={os.environ.get(name)}"
    for name in _TOOLS:
        spec = importlib.util.find_spec(name)
        origin = spec.origin if spec is not None else None
        status = os.stat(origin) if origin else None
        yield f"{name} {origin} {status and (status.st_size, status.st_mtime_ns)}"


def _add(digest, octets):
    """Length first: no two sequences of parts have the same digest."""
    digest.update(len(octets).to_bytes(8, "big"))
    digest.update(octets)

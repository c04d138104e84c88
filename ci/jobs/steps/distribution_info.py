"""Registers the checkout in a virtual environment as the distribution `steertag`, with its entry points, so that
pytest there finds the plugin without an option."""

import pathlib
import runpy
import shutil
import sys
import tomllib

PROJECT = pathlib.Path(__file__).resolve().parents[3]
VERSION = PROJECT / "bindings/python/steertag/_version.py"


def write(site, pyproject=PROJECT / "pyproject.toml"):
    """Writes METADATA and entry_points.txt (PyPA: core metadata, entry points) below the folder of packages."""
    project = tomllib.loads(pyproject.read_text())["project"]
    name, version = project["name"], runpy.run_path(str(VERSION))["__version__"]
    for stale in pathlib.Path(site).glob(f"{name}-*.dist-info"):
        shutil.rmtree(stale)
    folder = pathlib.Path(site) / f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, entries in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines += [f"{entry} = {target}" for entry, target in entries.items()]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write(sys.argv[1])

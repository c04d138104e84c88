"""Builds the wheel from what `cmake --install` installs of the Python package. cmake/SteertagInstall.cmake says what
belongs to it, and pyproject.toml has the rest. STEERTAG_BUILD names a build directory, else it is build/release, which
is compiled if it is not yet."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import setuptools
from setuptools.command.build_py import build_py

PLACE = "lib/python3/dist-packages/steertag"  # STEERTAG_PYTHON_DIR below the prefix
PARTS = ("_engine", "stubs", "steertag-serve", "steertag-copy")
OPTIONS = ("-DSTEERTAG_TESTS=OFF", "-DSTEERTAG_BENCH=OFF", "-DSTEERTAG_QUICK=ON")


class BuildByCMake(build_py):
    """Compiles and installs by CMake instead of copying modules."""

    def run(self):
        build = pathlib.Path(os.environ.get("STEERTAG_BUILD") or "build/release")
        if not (build / "CMakeCache.txt").exists():
            cmake("--preset", "release", "-B", build, *OPTIONS)
        cmake("--build", build, "--target", *PARTS)
        target = pathlib.Path(self.build_lib, "steertag")
        shutil.rmtree(target, ignore_errors=True)
        with tempfile.TemporaryDirectory() as prefix:
            cmake("--install", build, "--component", "python", "--strip", "--prefix", prefix)
            shutil.copytree(pathlib.Path(prefix, PLACE), target)


class Platform(setuptools.Distribution):
    """The wheel is for one version of Python and one platform."""

    def has_ext_modules(self):
        return True


def cmake(*arguments):
    subprocess.run(["cmake", *map(str, arguments)], check=True)


# What setuptools writes besides stays in build/, too.
pathlib.Path("build").mkdir(exist_ok=True)
setuptools.setup(
    packages=["steertag"],
    package_dir={"": "bindings/python"},
    cmdclass={"build_py": BuildByCMake},
    distclass=Platform,
    options={"egg_info": {"egg_base": "build"}},
)

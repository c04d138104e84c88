"""Leaves the tests that stand beside the modules out of an installed package; the rest is in pyproject.toml."""

import setuptools
from setuptools.command.build_py import build_py


class BuildWithoutTests(build_py):
    """`build_py` that skips the modules named *_test."""

    def find_package_modules(self, package, package_dir):
        modules = super().find_package_modules(package, package_dir)
        return [module for module in modules if not module[1].endswith("_test")]


setuptools.setup(cmdclass={"build_py": BuildWithoutTests})

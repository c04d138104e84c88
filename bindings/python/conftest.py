"""Tests beside the modules of the package."""

import pytest


class _Package(pytest.Package):
    """With --import-mode=importlib pytest would import the package once more, by another name."""

    def setup(self):
        pass


def pytest_pycollect_makemodule(module_path, parent):
    if module_path.name != "__init__.py":
        return None
    return _Package.from_parent(parent, path=module_path)

"""Tests beside the modules of the package."""

import os

import pytest

# Set by ci/check: the tests of pages are not skipped for want of a browser.
NEED_BROWSER = "STEERTAG_NEED_BROWSER"


class _Package(pytest.Package):
    """With --import-mode=importlib pytest would import the package once more, by another name."""

    def setup(self):
        pass


def pytest_pycollect_makemodule(module_path, parent):
    if module_path.name != "__init__.py":
        return None
    return _Package.from_parent(parent, path=module_path)


@pytest.fixture(scope="session")
def _one_browser():
    if not os.environ.get(NEED_BROWSER):
        pytest.importorskip(
            "selenium", reason="python3-selenium is not installed (ci/setup --check)"
        )
    from steertag.testing.browser import browsing, is_installed

    if not is_installed() and not os.environ.get(NEED_BROWSER):
        pytest.skip("chromium-driver is not installed (ci/setup --check)")
    with browsing() as one:
        yield one


@pytest.fixture
def browser(_one_browser):
    """The browser of all tests of a process, as wide as a desk's, in light colours."""
    _one_browser.resize(1280, 900)
    _one_browser.scheme("light")
    return _one_browser


@pytest.fixture
def server():
    """A peer.Server of ours, by iWARP and by TCP."""
    from steertag import peer

    with peer.Server(["iwarp://127.0.0.1:0", "tcp://127.0.0.1:0"]) as running:
        yield running


@pytest.fixture(params=["iwarp", "tcp"])
def url(server, request):
    """The URL of its export by one transport."""
    return next(each for each in server.listening if each.startswith(request.param)) + "/export"

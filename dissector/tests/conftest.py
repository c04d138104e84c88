"""Fixtures of the plugin's tests."""

import pathlib
import shutil
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
# The generator of committed captures also makes those of single tests.
sys.path.insert(1, str(pathlib.Path(__file__).parents[2] / "fixtures" / "captures" / "situations"))

import tshark


@pytest.fixture(scope="session")
def home():
    """A directory that other users can access, unlike pytest's own."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="steertag-plugin-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def wireshark(home):
    """Wireshark's programs with the plugin of the build."""
    if not list(tshark.plugins().glob("*/epan/steertag.so")):
        pytest.fail(f"no plugin in {tshark.plugins()}: build with -DSTEERTAG_DISSECTOR=ON")
    return tshark.Wireshark(home)


@pytest.fixture(params=[1, 2], ids=["one pass", "two passes"])
def passes(request):
    return request.param

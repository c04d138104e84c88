"""What the tests of the plugin share."""

import pathlib
import shutil
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
# What makes the committed captures makes those of single tests too.
sys.path.insert(1, str(pathlib.Path(__file__).parents[2] / "fixtures" / "captures" / "situations"))

import tshark


@pytest.fixture(scope="session")
def home():
    """A directory that another user can use, which pytest's own are not."""
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

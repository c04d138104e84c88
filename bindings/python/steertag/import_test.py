"""The parts of the package that `import steertag` loads, and those that load on use."""

import collections
import pathlib
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).parent


def run(program):
    """The program's standard output, from a fresh interpreter: this one has imported everything."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_command_line_makes_none_of_the_classes_of_nfs():
    assert run("import sys, steertag.cli; print('steertag.nfs' in sys.modules)") == "False"


def test_a_command_imports_no_other():
    program = """
import sys
from steertag import cli
cli.parser("ls")
print(*sorted(set(sys.modules) & {"steertag.files.cp", "steertag.suite_commands", "dataclasses", "json", "typing"}))
"""
    assert run(program) == ""


@pytest.mark.parametrize(
    "way",
    [
        "import steertag; nfs = steertag.nfs",
        "from steertag import nfs",
        "import steertag.nfs as nfs",
        "import steertag.nfs.nfs4; from steertag import nfs",
    ],
)
def test_nfs_is_there_whichever_way_it_is_asked_for(way):
    assert run(f"{way}\nprint(nfs.nfs4.Status.NFS4_OK.name)") == "NFS4_OK"


@pytest.mark.parametrize("way", ["import steertag.nfs", "from steertag import nfs"])
def test_without_an_engine_nfs_says_what_to_do(way):
    program = f"""
import sys
sys.modules["steertag._engine"] = None
try:
    {way}
except ImportError as error:
    print(error)
"""
    assert "run `ci/quickstart --build`" in run(program)


def test_no_two_modules_have_one_name():
    names = collections.Counter(
        path.name for path in PACKAGE.rglob("*.py") if not path.name.startswith("__")
    )
    assert not [name for name, count in names.items() if count > 1]

"""The utilities of libnfs copy and list, and the run names each fault of theirs or of the server."""

import pytest

from ci.jobs.peers import libnfs_tools, listing_time
from ci.jobs.peers.peer_run import CannotRun

PORT = 12049
# Each utility, over a folder instead of a server.
HEAD = """\
#!/usr/bin/python3
import pathlib, sys
def place(url):
    return pathlib.Path({folder!r}) / url.split("/export/")[1].split("?")[0]
"""
# nfs-cp of libnfs creates a file that must not be there (GUARDED).
UTILITIES = {
    "nfs-cp": 'open(place(sys.argv[2]), "xb").write(pathlib.Path(sys.argv[1]).read_bytes())\n',
    "nfs-cat": "sys.stdout.buffer.write(place(sys.argv[1]).read_bytes())\n",
    "nfs-ls": 'for each in place(sys.argv[1]).iterdir(): print("-rw-r--r-- 1 0 0 5", each.name)\n',
}


@pytest.fixture
def utility(tmp_path, monkeypatch):
    """Installs a utility with this text."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "files").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(libnfs_tools, "ENTRIES", 3)
    monkeypatch.setattr(listing_time, "ratios", lambda: {listing_time.NAMES: 1.0})

    def install(name, text):
        path = tmp_path / "bin" / name
        path.write_text(HEAD.format(folder=str(tmp_path / "files")) + text)
        path.chmod(0o755)

    for name, text in UTILITIES.items():
        install(name, text)
    return install


def test_a_missing_utility_is_told(utility, monkeypatch, tmp_path):
    libnfs_tools.check()
    (tmp_path / "bin" / "nfs-ls").unlink()
    with pytest.raises(
        CannotRun, match="^nfs-ls missing: install the Debian package libnfs-utils$"
    ):
        libnfs_tools.check()


def test_all_pass_where_all_is_well(utility):
    found = libnfs_tools.run(PORT)
    assert (found.passed, found.failed) == (7, {})


def test_a_slow_listing_of_our_client_is_a_failure(utility, monkeypatch):
    monkeypatch.setattr(listing_time, "ratios", lambda: {listing_time.NAMES: 3.0})
    found = libnfs_tools.run(PORT)
    message = "a long listing takes steertag ls 3.00 times as long as nfs-ls"
    assert (found.passed, found.failed) == (6, {"listing-time": message})


@pytest.mark.parametrize(
    "name, text, failed, message",
    [
        (
            "nfs-cat",
            'print("other")\n',
            {"copy", "read"},
            "nfs-cat gave other octets than nfs-cp took",
        ),
        (
            "nfs-ls",
            'print("x entry-3-0"); print("x entry-4-0")\n',
            {"list"},
            "lists 1 of 3 entries",
        ),
        (
            "nfs-ls",
            'sys.exit("refused")\n',
            {"list"},
            "nfs-ls ended with status 1: refused",
        ),
    ],
)
def test_a_fault_is_a_failure_of_each_version(utility, name, text, failed, message):
    utility(name, text)
    found = libnfs_tools.run(PORT)
    assert found.failed.keys() == {f"{each}-v{version}" for each in failed for version in (3, 4)}
    assert found.passed + len(found.failed) == 7
    assert all(message in each for each in found.failed.values())


def test_the_url_names_version_and_both_ports():
    assert (
        libnfs_tools.Export(PORT, 3).url("f")
        == f"nfs://127.0.0.1/export/f?version=3&nfsport={PORT}&mountport={PORT}"
    )

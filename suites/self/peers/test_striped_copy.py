"""`steertag cp` of files striped over data servers: the octets go there, and come whole."""

import random
import re
import subprocess

import pytest
from steertag_command import steertag

from steertag.build_paths import tool
from steertag.suite.exchange.roce_address import with_free_address

SERVERS = 3
UNIT = 65536
STRIPES = 20
SIZE = STRIPES * SERVERS * UNIT + 12345
DEADLINE_S = 20
PLACE = re.compile(r"listening at (\S+)\n")
COUNTS = re.compile(
    r"(?:data )?server[ 0-9]*: (\d+) messages, (\d+) octets pulled, (\d+) octets pushed"
)
PLACES = re.compile(r"octets at (\d+) data servers: ([0-9, ]+); at the metadata server: (\d+)")


class Servers:
    """A running steertag-serve with pNFS, which says at its end what each of its servers has carried."""

    def __init__(self, provider, *options):
        self._command = [tool("steertag-serve"), "--pnfs", str(SERVERS), "--counts"]
        self._command += ["--stripe-unit", str(UNIT), *options]
        self._command += ["--listen", with_free_address(f"{provider}://127.0.0.1:0")]

    def __enter__(self):
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        self.url = PLACE.fullmatch(self.process.stdout.readline())[1] + "/export"
        return self

    def end(self, count=1 + SERVERS):
        """(messages, octets pulled and pushed) of the metadata server, and of each data server: so many servers."""
        self.process.terminate()
        text, _ = self.process.communicate(timeout=DEADLINE_S)
        assert self.process.returncode == 0
        rows = [tuple(map(int, row)) for row in COUNTS.findall(text)]
        assert len(rows) == count, text
        return [(messages, pulled + pushed) for messages, pulled, pushed in rows]

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def copied(*arguments):
    """What the client says of its octets: those at each data server, and those at the metadata server."""
    done = steertag("cp", *map(str, arguments))
    assert done.returncode == 0, done.stdout + done.stderr
    found = PLACES.search(done.stdout)
    assert found, done.stdout
    return [int(each) for each in found[2].split(", ")], int(found[3])


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source"
    path.write_bytes(random.Random(1).randbytes(SIZE))
    return path


def check_copies(tmp_path, source, servers):
    """Copies there and back. All octets go by the data servers, and each has its part."""
    for arguments in ((source, f"{servers.url}/file"), (f"{servers.url}/file", tmp_path / "back")):
        at_data_servers, at_metadata_server = copied(*arguments)
        assert at_metadata_server == 0
        assert sum(at_data_servers) == SIZE
        assert len(at_data_servers) == SERVERS
        assert min(at_data_servers) >= STRIPES * UNIT
    assert (tmp_path / "back").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("commit", ["ds", "mds"])
@pytest.mark.parametrize("packing", ["sparse", "dense"])
@pytest.mark.parametrize("provider", ["iwarp", "roce", "tcp"])
def test_octets_go_to_data_servers_and_not_through_the_metadata_server(
    tmp_path, source, provider, packing, commit
):
    with Servers(provider, "--packing", packing, "--commit", commit) as servers:
        check_copies(tmp_path, source, servers)
        (messages, octets), *others = servers.end()
    # A WRITE and a READ of each stripe unit, and far fewer calls at the metadata server.
    assert messages < STRIPES * SERVERS
    assert all(each >= 2 * STRIPES for each, _ in others)
    if provider == "tcp":
        return
    # By RDMA Reads and Writes of the servers; a READ or WRITE of a few octets takes none.
    assert octets < UNIT
    assert all(each >= 2 * STRIPES * UNIT for _, each in others)
    assert sum(each for _, each in others) >= 2 * (SIZE - UNIT)


@pytest.mark.parametrize("commit", ["ds", "mds"])
@pytest.mark.parametrize("provider", ["iwarp", "tcp"])
def test_a_metadata_server_that_is_a_data_server_has_its_part(tmp_path, source, provider, commit):
    """RFC 8881 13.1."""
    with Servers(provider, "--both-roles", "--commit", commit) as servers:
        check_copies(tmp_path, source, servers)
        (messages, _), *others = servers.end(SERVERS)
    assert messages > max(each for each, _ in others)


def test_without_pnfs_all_octets_go_through_the_metadata_server(tmp_path, source):
    with Servers("iwarp") as servers:
        done = steertag("cp", "--no-pnfs", str(source), f"{servers.url}/file")
        assert (done.returncode, done.stdout) == (0, "")
        # What one way has written the other reads.
        copied(f"{servers.url}/file", tmp_path / "back")
        (_, octets), *_ = servers.end()
    assert octets >= SIZE
    assert (tmp_path / "back").read_bytes() == source.read_bytes()

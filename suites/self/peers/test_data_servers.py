"""`steertag-serve --pnfs` on the wire: a client of file layouts at the metadata server and its data servers."""

import contextlib
import os
import random
import re
import subprocess

import pytest
from pnfs_mount import NFS4, SIZE, UNIT, Connections, Mounted
from pnfs_mount import done, mounted_with_layout, octets, remove, status

from steertag.build_paths import tool
from steertag.suite.cases import kinds
from steertag.suite.exchange.roce_address import with_free_address
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.file_layout import COMMIT_THROUGH_SERVER, place_of
from steertag.suite.nfs_client.layout_user import ALL, DS, MDS, NON_PNFS, ROLES
from steertag.suite.nfs_client.nfs4_client import ANONYMOUS, Nfs4Client, getattr_of, lookup, putfh
from steertag.suite.nfs_client.nfs_message import auth_sys
from steertag.suite.tcp.local_port import free_port

SERVERS = 2
NETIDS = {"iwarp": "rdma", "roce": "rdma", "tcp": "tcp"}
PLACE = re.compile(r"(?:data server \d+|listening) at (\S+)\n")
DEADLINE_S = 20


class Servers:
    """A running steertag-serve, and connections to all its parts by the first of their addresses."""

    def __init__(self, provider, *options):
        listen = with_free_address(f"{provider}://127.0.0.1:0")
        command = [tool("steertag-serve"), "--listen", listen, "--pnfs", str(SERVERS)]
        command += ["--stripe-unit", str(UNIT), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._ways = command.count("--listen")
        self._connections = Connections(provider)

    def find(self):
        """Sets `urls`: that of the metadata server first."""
        count = self._ways * (1 + SERVERS)
        lines = [self.process.stdout.readline() for _ in range(count)]
        assert all(map(PLACE.fullmatch, lines)), lines
        self.all_urls = [PLACE.fullmatch(line)[1] for line in lines]
        self.urls = self.all_urls[:: self._ways]

    def connect(self, number=0):
        """A connection to the metadata server, or to the data server of a number from 1 on."""
        return self._connections.to(self.urls[number])

    def end(self):
        self._connections.end()
        self.process.terminate()
        self.process.communicate(timeout=DEADLINE_S)
        assert self.process.returncode == 0


@pytest.fixture
def start():
    """Starts servers, which end after the test."""
    with contextlib.ExitStack() as stack:

        def begin(*options):
            servers = Servers(*options)
            stack.callback(servers.end)
            servers.find()
            return servers

        yield begin


@pytest.mark.parametrize("packing", ["sparse", "dense"])
@pytest.mark.parametrize("provider", NETIDS)
def test_octets_written_at_one_place_are_read_at_the_other(start, provider, packing):
    servers = start(provider, "--packing", packing)
    client = mounted_with_layout(servers)
    # RFC 8881 13.3, 13.4.
    assert client.layout.unit == UNIT
    assert client.layout.dense == (packing == "dense")
    assert not client.layout.util & COMMIT_THROUGH_SERVER
    assert set(client.device.indices) == set(range(SERVERS))
    told = [(netid, place_of(address)[1]) for ((netid, address),) in client.device.servers]
    ports = [int(url.rsplit(":", 1)[1]) for url in servers.urls[1:]]
    assert told == [(NETIDS[provider], port) for port in ports]
    # From the metadata server to the data servers.
    first = octets(1)
    for at in range(0, SIZE, UNIT):
        piece = first[at : at + UNIT]
        done(client.write_at(client.session, client.handle, at, piece, client.stateid), "WRITE")
    for part in client.parts():
        found = done(client.read_part(part), "READ")
        assert bytes(found.data) == first[part.start : part.start + part.length]
    # And back.
    second = octets(2)
    verifiers = [set() for _ in range(SERVERS)]
    for part in client.parts():
        written = done(client.write_part(part, second), "WRITE")
        assert written.count == part.length
        verifiers[part.server].add(bytes(written.writeverf))
    for part in client.parts()[:SERVERS]:
        kept = client.at[part.server].exchange(putfh(part.handle), operation("COMMIT"))
        assert {bytes(done(kept, "COMMIT").writeverf)} == verifiers[part.server]
    found = b""
    for at in range(0, SIZE, UNIT):
        piece = client.read_at(client.session, client.handle, at, UNIT, client.stateid)
        found += bytes(done(piece, "READ").data)
    assert found == second


def layout_commit(client, last):
    commit = operation(
        "LAYOUTCOMMIT",
        loca_length=ALL,
        loca_stateid=client.layout_stateid,
        loca_last_write_offset={"no_newoffset": True, "no_offset": last},
    )
    return client.session.run(putfh(client.handle), commit)["LAYOUTCOMMIT"].resok4.locr_newsize


@pytest.mark.parametrize("provider", NETIDS)
def test_a_file_that_only_data_servers_wrote_has_its_size_after_layoutcommit(start, provider):
    client = mounted_with_layout(start(provider, "--packing", "dense"))
    content = octets(3)
    for part in client.parts():
        done(client.write_part(part, content), "WRITE")
    layout_commit(client, SIZE - 1)
    assert not layout_commit(client, 0).ns_sizechanged  # RFC 8881 12.5.4.2: never truncated
    grown = layout_commit(client, SIZE + 9)
    assert (grown.ns_sizechanged, grown.ns_size) == (True, SIZE + 10)
    other = Mounted(client.servers, "second")
    path = ["PUTROOTFH", lookup("export"), lookup("file"), getattr_of("size")]
    found = other.session.run(*path)["GETATTR"].resok4.obj_attributes
    assert NFS4.attributes(found)["size"] == SIZE + 10


@pytest.mark.parametrize("provider", NETIDS)
def test_a_data_server_refuses_what_is_not_its_own(start, provider):
    """RFC 8881 13.6, 13.9.1 and 13.4.4."""
    client = mounted_with_layout(start(provider))
    part, neighbour = client.parts()[:SERVERS]
    session = client.at[part.server]
    layout_get = operation("LAYOUTGET", loga_stateid=client.stateid, loga_length=ALL)
    for refused in ("GETFH", getattr_of("size"), "SAVEFH", layout_get):
        outcome = session.exchange(putfh(part.handle), refused)
        name = refused if isinstance(refused, str) else refused[0]
        assert status(outcome, name) == "NFS4ERR_NOTSUPP"
    for refused in ("PUTROOTFH", "RECLAIM_COMPLETE"):
        assert status(session.exchange(refused), refused) == "NFS4ERR_NOTSUPP"
    secured = session.exchange(putfh(part.handle), operation("SECINFO_NO_NAME"))
    assert status(secured, "SECINFO_NO_NAME") == "NFS4_OK"  # RFC 8881 13.12
    for handle in (client.handle, neighbour.handle):
        assert status(session.exchange(putfh(handle)), "PUTFH") == "NFS4ERR_BADHANDLE"
    assert status(client.session.exchange(putfh(part.handle)), "PUTFH") == "NFS4ERR_BADHANDLE"

    def refusal(stateid, offset=part.offset):
        outcome = client.read_at(session, part.handle, offset, 1, stateid)
        return status(outcome, "READ")

    for stateid in (client.stateid, NFS4.StateId(**ANONYMOUS), client.layout_stateid):
        assert refusal(stateid) == "NFS4ERR_BAD_STATEID"
    layout = NFS4.StateId(seqid=0, other=client.layout_stateid.other)
    assert refusal(layout) == "NFS4ERR_BAD_STATEID"
    assert refusal(client.for_io, neighbour.offset) == "NFS4ERR_PNFS_IO_HOLE"
    assert refusal(client.for_io) == "NFS4_OK"


@pytest.mark.parametrize("provider", NETIDS)
def test_a_data_server_asks_who_reads(start, provider):
    """RFC 8881 13.12 and 13.9.1: the caller, its client, and its open."""
    client = mounted_with_layout(start(provider))
    part = client.parts()[0]
    conn = client.at[part.server].conn
    owner, conn.credential = conn.credential, auth_sys(1000, 1000)
    assert status(client.read_part(part), "READ") == "NFS4ERR_ACCESS"
    conn.credential = owner
    assert status(client.read_part(part), "READ") == "NFS4_OK"
    other = Mounted(client.servers, "second")
    other.mount_data_servers()
    asked = part.handle, part.offset, 1, client.for_io
    taken = other.read_at(other.at[part.server], *asked)
    assert status(taken, "READ") == "NFS4ERR_PNFS_NO_LAYOUT"
    client.session.close(client.handle, client.stateid)
    assert client.read_part(part).kind != kinds.REPLY


def test_servers_tell_clients_which_they_are(start):
    """RFC 8881 13.1: roles, and owners that no client takes for one server."""
    servers = start("tcp")
    told = []
    for number in range(1 + SERVERS):
        for asked in (0, MDS, DS, NON_PNFS, MDS | DS):
            client = Nfs4Client(servers.connect(number), f"client {asked}")
            known = done(client.exchange_id(eia_flags=asked), "EXCHANGE_ID")
            assert known.eir_flags & ROLES == (DS if number else MDS)
        told.append(bytes(known.eir_server_owner.so_major_id))
    assert len(set(told)) == 1 + SERVERS


def test_devices_have_all_addresses_with_rdma_first(start):
    client = mounted_with_layout(start("iwarp", "--listen", "tcp://127.0.0.1:0"))
    for ways in client.device.servers:
        assert [netid for netid, _ in ways] == ["rdma", "tcp"]


def test_data_servers_may_be_known_by_another_address(start):
    servers = start("tcp", "--pnfs-host", "192.0.2.7")
    ports = [int(url.rsplit(":", 1)[1]) for url in servers.urls[1:]]
    client = mounted_with_layout(servers)
    told = [place_of(address) for ((_, address),) in client.device.servers]
    assert told == [("192.0.2.7", port) for port in ports]


def test_data_servers_listen_at_ports_in_a_row(start):
    first = free_port(random.Random(os.getpid()), in_a_row=2 * SERVERS)
    servers = start("iwarp", "--listen", "tcp://127.0.0.1:0", "--pnfs-port", str(first))
    ports = [int(url.rsplit(":", 1)[1]) for url in servers.all_urls[2:]]
    assert ports == list(range(first, first + 2 * SERVERS))
    client = mounted_with_layout(servers)
    told = [place_of(address)[1] for ways in client.device.servers for _, address in ways]
    assert told == ports


def test_ports_above_the_last_are_refused():
    command = [tool("steertag-serve"), "--listen", "tcp://127.0.0.1:0", "--pnfs", "2"]
    ended = subprocess.run(
        [*command, "--pnfs-port", "65535"], capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert ended.returncode != 0
    assert "2 ports of data servers from 65535 on end above 65535" in ended.stderr


def test_commits_at_the_metadata_server_have_the_verifier_of_all_writes(start):
    """RFC 8881 13.7, with NFL4_UFLG_COMMIT_THRU_MDS."""
    client = mounted_with_layout(start("iwarp", "--commit", "mds"))
    assert client.layout.util & COMMIT_THROUGH_SERVER
    content = octets(7)
    written = [done(client.write_part(part, content), "WRITE") for part in client.parts()]
    kept = client.session.exchange(putfh(client.handle), operation("COMMIT"))
    verifier = done(kept, "COMMIT").writeverf
    assert {bytes(each.writeverf) for each in written} == {bytes(verifier)}


@pytest.mark.parametrize("provider", NETIDS)
def test_after_its_return_a_layout_is_of_no_use(start, provider):
    client = mounted_with_layout(start(provider))
    part = client.parts()[0]
    done(client.write_part(part, octets(4)), "WRITE")
    assert not client.layout_return().lrs_present
    for outcome, name in (
        (client.read_part(part), "READ"),
        (client.write_part(part, octets(5)), "WRITE"),
        (client.at[part.server].exchange(putfh(part.handle), operation("COMMIT")), "COMMIT"),
    ):
        assert status(outcome, name) == "NFS4ERR_PNFS_NO_LAYOUT"
    again = client.layout_get(stateid=client.layout_stateid)
    assert status(again, "LAYOUTGET") == "NFS4ERR_BAD_STATEID"
    client.use_layout()
    found = done(client.read_part(part), "READ")
    assert bytes(found.data) == octets(4)[:UNIT]


@pytest.mark.parametrize("provider", NETIDS)
def test_a_removal_by_another_client_recalls_the_layout(start, provider):
    client = mounted_with_layout(start(provider))
    part = client.parts()[0]
    done(client.write_part(part, octets(6)), "WRITE")
    callbacks = client.session.conn.callbacks
    callbacks.configure(answers_null=False)
    other = Mounted(client.servers, "second")
    assert remove(other) == "NFS4ERR_DELAY"
    callback = callbacks.wait()
    while callback is not None and "CB_LAYOUTRECALL" not in callback:  # a try of the backchannel
        callbacks.answer(callback)
        callback = callbacks.wait()
    assert callback is not None, "no CB_LAYOUTRECALL came"
    recalled = callback["CB_LAYOUTRECALL"].clora_recall
    assert recalled.lor_recalltype == NFS4.LayoutrecallType.LAYOUTRECALL4_FILE
    scope = recalled.lor_layout
    assert bytes(scope.lor_fh) == bytes(client.handle)
    assert scope.lor_stateid.other == client.layout_stateid.other
    assert scope.lor_stateid.seqid == client.layout_stateid.seqid + 1
    callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
    assert remove(other) == "NFS4ERR_DELAY"
    client.layout_stateid = scope.lor_stateid
    assert not client.layout_return().lrs_present
    assert remove(other) == "NFS4_OK"
    assert client.read_part(part).kind != kinds.REPLY

"""pNFS in processes of its own: `steertag cp` while its parts die, and replies that wait for data servers."""

import itertools
import random
import signal
import socket

import pytest
from pnfs_mount import NFS4, Connections, Mounted, done, octets, status
from pnfs_processes import (
    check_deaths,
    CHUNK,
    Cluster,
    copy_by_deviating,
    there_and_back,
    unstable_mib,
)
from pnfs_traffic import check_repeated, check_used, Places

from steertag.suite.cases import kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import MOST_DEVICE_OCTETS
from steertag.suite.nfs_client.nfs4_client import getattr_of, lookup, putfh
from steertag.suite.nfs_client.nfs_message import auth_sys

MIB = 16
KILLS = 4  # each part once
MOST_COPIES = 20  # a fast one ends before all parts have died
SHORTEST_LEASE_S = 5
UNIT = ["--stripe-unit", "8192"]
CHANGE = 1  # NOTIFY_DEVICEID4_CHANGE
CALLBACK_MS = 20_000
OTHER_USER = auth_sys(1000, 1000)


@pytest.mark.parametrize("commit", ["ds", "mds"])
@pytest.mark.parametrize("provider", ["iwarp", "tcp"])
def test_no_octet_is_lost_or_wrong_while_each_part_dies_in_turn(tmp_path, provider, commit):
    source = tmp_path / "source"
    source.write_bytes(random.Random(1).randbytes(MIB * CHUNK))
    (tmp_path / "back").mkdir()
    options = ["--commit", commit]
    with Cluster(tmp_path, provider, options=options, unstable_mib=unstable_mib(MIB)) as cluster:
        turn = itertools.cycle([*cluster.parts[1:], cluster.parts[0]])
        deaths, written, traffics = 0, [], []
        for _ in range(MOST_COPIES):
            if deaths < 2 * KILLS:
                both = there_and_back(cluster, source, tmp_path / "back", KILLS, turn)
                deaths += sum(len(each.died) for each in both)
                traffics += [each.traffic for each in both]
                written.append((Places.read(both[0].text), both[0].died))
        cluster.end()
    assert deaths >= 2 * KILLS, f"{MOST_COPIES} copies ended before each part had died twice"
    check_used(traffics, ["ds1", "ds2", "ds3"])
    check_repeated(written, MIB * CHUNK)


def test_a_copy_past_the_data_servers_is_a_failure(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(random.Random(1).randbytes(CHUNK))
    (tmp_path / "back").mkdir()
    with Cluster(tmp_path) as cluster:
        more = ["--no-pnfs"]
        both = there_and_back(cluster, source, tmp_path / "back", 0, iter(()), more)
    with pytest.raises(AssertionError, match="ds1 carried octets in 0 copies of 2"):
        check_used([each.traffic for each in both], ["ds1"])


def test_a_client_that_compares_no_verifiers_is_a_failure(tmp_path):
    """What the data server has lost is missing in the copy."""
    source = tmp_path / "source"
    source.write_bytes(random.Random(1).randbytes(MIB * CHUNK))
    with Cluster(tmp_path, unstable_mib=unstable_mib(MIB)) as cluster:
        turn = itertools.cycle(cluster.data_servers)
        with pytest.raises(AssertionError, match="octets are lost or wrong"):
            for _ in range(MOST_COPIES):
                copy_by_deviating(cluster, source, 1, turn, "commit-verifier-uncompared")


def test_a_run_with_fewer_deaths_than_asked_for_is_a_failure():
    check_deaths(4, asked=4)
    with pytest.raises(SystemExit, match="3 parts died of the 4 asked for"):
        check_deaths(3, asked=4)


class Servers:
    """The parts of a cluster as Mounted knows servers."""

    def __init__(self, cluster):
        self.urls = [part.url for part in cluster.parts]
        self._connections = Connections(cluster.provider)

    def connect(self, number=0):
        return self._connections.to(self.urls[number])

    def end(self):
        self._connections.end()


@pytest.fixture
def cluster(request, tmp_path):
    provider = getattr(request, "param", "iwarp")
    with Cluster(tmp_path, provider, servers=2, lease_s=SHORTEST_LEASE_S, options=UNIT) as made:
        yield made


@pytest.fixture
def client(cluster):
    """One that has written its file by its layout."""
    places = Servers(cluster)
    made = Mounted(places, "first")
    made.mount_data_servers()
    made.create("file")
    made.use_layout()
    for part in made.parts():
        done(made.write_part(part, octets(1)), "WRITE")
    yield made
    places.end()


def test_octets_are_those_of_one_file_at_all_servers(cluster, client):
    assert (cluster.export / "file").read_bytes() == octets(1)
    for part in client.parts():
        found = done(client.read_part(part), "READ")
        assert bytes(found.data) == octets(1)[part.start : part.start + part.length]


def test_a_layout_is_of_no_use_when_the_reply_to_its_return_has_come(client):
    assert not client.layout_return().lrs_present
    for part in client.parts():
        assert status(client.read_part(part), "READ") == "NFS4ERR_PNFS_NO_LAYOUT"
    client.use_layout()
    assert status(client.read_part(client.parts()[0]), "READ") == "NFS4_OK"


def test_a_stateid_is_of_no_use_when_the_reply_to_its_close_has_come(client):
    client.session.close(client.handle, client.stateid)
    for part in client.parts():
        assert client.read_part(part).kind != kinds.REPLY


def test_a_data_server_knows_a_mode_when_the_reply_to_its_change_has_come(client):
    """RFC 8881 13.9.2.3."""
    part = client.parts()[0]
    conn = client.at[part.server].conn
    for mode, outcome in ((0o600, "NFS4ERR_ACCESS"), (0o604, "NFS4_OK")) * 3:
        changed = operation("SETATTR", stateid=client.stateid, obj_attributes=NFS4.fattr(mode=mode))
        assert (
            status(client.session.exchange(putfh(client.handle), changed), "SETATTR") == "NFS4_OK"
        )
        owner, conn.credential = conn.credential, OTHER_USER
        assert status(client.read_part(part), "READ") == outcome
        conn.credential = owner


CUT_OFF = "data server 1 is gone: it acknowledges nothing, and is cut off"


@pytest.mark.parametrize("cluster", ["iwarp", "tcp"], indirect=True)
def test_a_close_waits_for_a_frozen_data_server_for_a_lease_at_most(cluster, client):
    other = Mounted(client.servers, "second")
    frozen = cluster.parts[1].process
    frozen.send_signal(signal.SIGSTOP)
    try:
        close = operation("CLOSE", open_stateid=client.stateid)
        closed = client.session.exchange(putfh(client.handle), close)
        assert (closed.kind, closed.detail) == (kinds.SILENCE, "2 later NULL calls were answered")
        assert CUT_OFF not in cluster.parts[0].log()
        # No other client waits for what does not concern it.
        other.session.run("PUTROOTFH", lookup("export"), getattr_of("type"))
        cluster.await_log(lambda log: CUT_OFF in log)
    finally:
        frozen.send_signal(signal.SIGCONT)
    for part in client.parts():
        assert client.read_part(part).kind != kinds.REPLY


def test_a_data_server_that_restarts_has_another_verifier(cluster, client):
    """RFC 8881 13.7."""
    part = client.parts()[0]
    before = done(client.write_part(part, octets(2)), "WRITE").writeverf
    died = cluster.parts[1 + part.server]
    died.kill()
    died.start()
    cluster.await_all()
    client.at = []
    client.mount_data_servers()
    after = done(client.write_part(part, octets(2)), "WRITE").writeverf
    assert bytes(before) != bytes(after)
    kept = client.at[part.server].exchange(putfh(part.handle), operation("COMMIT"))
    assert bytes(done(kept, "COMMIT").writeverf) == bytes(after)


def test_a_metadata_server_that_restarts_ends_the_layouts_of_the_earlier_run(cluster, client):
    part = client.parts()[0]
    cluster.parts[0].kill()
    cluster.parts[0].start()
    cluster.await_all()
    outcome = client.at[part.server].exchange(putfh(part.handle))
    assert status(outcome, "PUTFH") == "NFS4ERR_BADHANDLE"


def _ask_to_hear(client, *types):
    """GETDEVICEINFO that asks for these notifications. Its result."""
    asked = operation(
        "GETDEVICEINFO",
        gdia_device_id=client.layout.device,
        gdia_maxcount=MOST_DEVICE_OCTETS,
        gdia_notify_types=NFS4.bitmap(*types),
    )
    found = client.session.run(asked)["GETDEVICEINFO"].resok4
    assert found.gdir_notification == NFS4.bitmap(*types)
    return found.gdir_device_addr.da_addr_body


def _await_callback(client, name):
    """Until the client has been called with this operation. It answers by itself, as one without layouts."""
    callbacks = client.session.conn.callbacks
    while not any(name in each for each in callbacks.seen):
        assert callbacks.wait_seen(callbacks.count + 1, CALLBACK_MS), f"no {name} came"


def _die_and_come_back_elsewhere(cluster):
    cluster.move_data_server()
    cluster.await_log(lambda log: "data server 1 is here, at another address" in log)


def test_who_has_asked_hears_of_a_data_server_at_another_address(cluster, client):
    """RFC 8881 12.2.10, 20.12.3."""
    before = _ask_to_hear(client, CHANGE)
    _die_and_come_back_elsewhere(cluster)
    _await_callback(client, "CB_NOTIFY_DEVICEID")
    assert _ask_to_hear(client, CHANGE) != before
    assert not client.layout_return().lrs_present, "the layout was not recalled"


def test_layouts_are_recalled_of_who_has_not_asked_to_hear_of_another_address(cluster, client):
    """The other choice of RFC 8881 12.2.10."""
    _die_and_come_back_elsewhere(cluster)
    _await_callback(client, "CB_LAYOUTRECALL")
    assert not any("CB_NOTIFY_DEVICEID" in each for each in client.session.conn.callbacks.seen)


def test_without_a_data_server_that_is_taken_out_there_are_no_layouts(cluster, client):
    cluster.parts[1].kill()
    cluster.await_log(lambda log: "data server 1 is gone" in log)
    cluster.parts[0].process.send_signal(signal.SIGUSR2)
    cluster.await_log(lambda log: "data server 1 is out" in log)
    _await_callback(client, "CB_LAYOUTRECALL")
    assert status(client.layout_get(), "LAYOUTGET") == "NFS4ERR_LAYOUTTRYLATER"
    before = client.layout.device
    cluster.parts[1].start()
    cluster.await_all()
    client.use_layout()
    assert client.layout.device != before


def test_octets_that_are_no_message_cost_a_connection_alone(cluster, client):
    for octets_sent in (b"\xff" * 64, b"\0\0\0\x04\0\0\0\x63", b"\0\0\0\x0c\0\0\0\x03" + b"\0" * 8):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(str(cluster.control))
            peer.settimeout(SHORTEST_LEASE_S)
            peer.sendall(octets_sent)
            assert peer.recv(1) == b""
    # The metadata server says so a moment after it has ended the connection.
    for why in (
        "it sent a message of 4294967295 octets",
        "it sent a message of the unknown kind 99",
        "its first message was no Hello",
    ):
        cluster.await_log(lambda log, why=why: f"a data server is gone: {why}" in log)
    assert status(client.read_part(client.parts()[0]), "READ") == "NFS4_OK"

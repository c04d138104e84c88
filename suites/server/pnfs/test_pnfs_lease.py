"""Data servers after the end of a lease and after a revocation, and their own lease (RFC 8881 12.7.3, 13.1.1, 13.11)."""

import time

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.layout_user import DS, LayoutUser
from .data_server_roles import meet_data_server
from .layout_checks import commit_at_data_servers, LOST, need_commit_at_data_servers, NEEDS
from .layout_checks import NFS4, short_lease_of, user_with_layout, written
from .test_layout_recall import recall_by_removal

EXECUTED, FENCING, SAME_LEASE = "RFC8881-12.7.3-1", "RFC8881-13.11-1", "RFC8881-13.1.1-1"
# From the end of a lease to the look at what it leaves: a server may look for such ends once a second.
AFTER_S = 2.5
# Between two requests that renew a lease.
PAUSE_MS = 500
# The part of a lease for which a session at a data server is idle.
IDLE_PART = 0.8
REVOKED = (
    NFS4.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED
    | NFS4.SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED
    | NFS4.SEQ4_STATUS_ADMIN_STATE_REVOKED
    | NFS4.SEQ4_STATUS_RECALLABLE_STATE_REVOKED
)


def let_lease_end(bench, user, requirement_id):
    """The lease ends at the metadata server, while the sessions at the data servers go on."""
    lease_s = short_lease_of(bench, user)
    end = time.monotonic() + lease_s + AFTER_S
    while time.monotonic() < end:
        renew(user, requirement_id)
    over = user.session.exchange("PUTROOTFH")
    if over.kind == kinds.REPLY and not user.session.status_flags & REVOKED:
        bench.not_testable("the server keeps the layouts of a client whose lease is over")


def let_recall_pass(bench, user, requirement_id, answers=True):
    """A recall is answered, and the layout is not returned. The leases go on."""
    lease_s = short_lease_of(bench, user)
    _, callback = recall_by_removal(bench, user, requirement_id)
    if callback is None:
        bench.not_testable("the layout of a file that is removed is not recalled")
    if answers:
        user.session.conn.callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
    end = time.monotonic() + lease_s + AFTER_S
    while not user.session.status_flags & REVOKED:
        if time.monotonic() > end:
            bench.not_testable("the server waits for more than one lease for a recalled layout")
        user.session.run("PUTROOTFH")
        renew(user, requirement_id)


def stay_silent(bench, user, requirement_id):
    """A recall is not even answered. The leases go on."""
    let_recall_pass(bench, user, requirement_id, answers=False)


def renew(user, requirement_id):
    """Renews the leases at the data servers, and waits a little."""
    for session in user.at.values():
        expect(session.exchange(), requirement_id, must=[kinds.REPLY])
    user.session.conn.wait_closed(PAUSE_MS)


WAYS = {"lease": let_lease_end, "recall": let_recall_pass, "silence": stay_silent}


@case(
    "server.pnfs.lost.{way}-{io}",
    requirements=[EXECUTED, FENCING],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("io", ["read", "write", "commit"])
@pytest.mark.parametrize("way", WAYS)
def test_lost(bench, way, io):
    """A client loses its layout, by the end of its lease or since it does not return what is recalled. All data
    servers refuse its READ and its COMMIT, or its WRITE, which leaves the file as it is."""
    user = user_with_layout(bench)
    if io == "commit":
        need_commit_at_data_servers(bench, user)
    content = committed(bench, user, EXECUTED)
    places = user.a_part_of_each()
    for part in places:
        expect(user.read_part(part), FENCING, must=[kinds.REPLY])
    WAYS[way](bench, user, FENCING)
    other = bytes(each ^ 0xFF for each in content)
    if io == "read":
        outcomes = [user.read_part(part) for part in places]
    elif io == "commit":
        outcomes = [user.commit_part(part) for part in places]
    else:
        outcomes = [user.write_part(part, other) for part in places]
        expect_content(bench, user, content, places, EXECUTED)
    for outcome in outcomes:
        expect(outcome, FENCING, must=LOST)


def committed(bench, user, requirement_id):
    """Writes the file at the data servers, and commits it. Returns its octets."""
    content = written(bench, user, requirement_id)
    commit_at_data_servers(user, requirement_id)
    expect(user.layout_commit(len(content) - 1), requirement_id, must=[kinds.REPLY])
    return content


def expect_content(bench, user, content, places, requirement_id):
    """The file has these octets for another client, at the metadata server."""
    reader = LayoutUser(bench, name=user.name)
    for part in places:
        asked = reader.session, reader.handle, part.start, part.length, reader.stateid
        outcome = expect(reader.read_at(*asked), requirement_id, must=[kinds.REPLY])
        found = outcome.result["READ"].resok4.data
        wanted = content[part.start : part.start + part.length]
        expect.data(found, wanted, requirement_id, "octets after the loss", outcome=outcome)


@case("server.pnfs.lease.idle-at-data-server", requirements=[SAME_LEASE], needs=NEEDS, over=ANY)
def test_idle(bench):
    """A session at a data server that has no other role is idle for less than the lease of the metadata
    server. It can then be used."""
    user = user_with_layout(bench)
    lease_s = short_lease_of(bench, user)
    session, roles = meet_data_server(bench, user, user.parts()[0], SAME_LEASE)
    if roles != DS:
        bench.not_testable("the data server has another role too")
    begin = time.monotonic()
    expect(session.exchange(), SAME_LEASE, must=[kinds.REPLY])
    session.conn.wait_closed(1000 * IDLE_PART * lease_s)
    outcome = session.exchange()
    if time.monotonic() - begin >= lease_s:
        bench.not_testable("this machine was too slow to end the pause within the lease")
    expect(outcome, SAME_LEASE, must=[kinds.REPLY])

"""The end of a session, and operations outside of sessions.

Those must be alone in their COMPOUND (RFC 8881 15.1.3.3, 18.35 to 18.37)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import putfh, read
from ..nfs4_checks import status

LOST = "RFC8881-2.10.13.1.4-1"
STATE = "RFC8881-18.37.3-4"
OTHER = "RFC8881-18.37.3-5"


def second_session(bench, session, requirement_id, conn=None):
    """Another session of the same client, on the same connection unless another is given."""
    made = session.client.create_session(conn)
    expect(made, requirement_id, must=[kinds.REPLY])
    return session.client.sessions[-1]


def destroying(session):
    return operation("DESTROY_SESSION", dsa_sessionid=session.id)


# Each with its own row. RFC 8881 15.1.3.3 covers all of them.
NOT_ALONE = {
    "exchange-id": "RFC8881-18.35.3-1",
    "create-session": "RFC8881-18.36.3-13",
    "destroy-session": "RFC8881-18.37.3-3",
}


@case(
    "server.nfs4.alone.{name}",
    requirements=list(NOT_ALONE.values()),
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", NOT_ALONE)
def test_not_alone(bench, name):
    """An operation that needs no SEQUENCE, without SEQUENCE and with another operation behind
    it."""
    session = bench.nfs4_session()
    client, conn = session.client, session.conn
    owner = {"co_verifier": client.verifier, "co_ownerid": client.owner}
    first = {
        "exchange-id": operation("EXCHANGE_ID", eia_clientowner=owner, eia_flags=0),
        "create-session": client.create_session_operation(),
        "destroy-session": destroying(session),
    }[name]
    outcome = conn.exchange(conn.compound_call(first, "PUTROOTFH"))
    expect(outcome, NOT_ALONE[name], must=[status("NFS4ERR_NOT_ONLY_OP")])


@case("server.nfs4.destroy.leaves-state", requirements=[STATE], needs=["nfs41"], over=ANY)
def test_leaves_state(bench):
    """A file is opened in one of two sessions, which is then destroyed. The file stays open. It is
    read and closed in the other session."""
    content = bench.random.randbytes(100)
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    name = bench.name("file")
    bench.file(content, name)
    other = second_session(bench, session, STATE, bench.connect())
    opened, handle = session.open(files.directory, name)
    expect(session.destroy(), STATE, must=[kinds.REPLY])
    stateid = opened.stateid
    close = operation("CLOSE", open_stateid=stateid)
    done = other.exchange(putfh(handle), read(100, stateid=stateid), close)
    expect(done, STATE, must=[kinds.REPLY])


@case("server.nfs4.destroy.other-session", requirements=[OTHER, LOST], needs=["nfs41"], over=ANY)
def test_other_session(bench):
    """DESTROY_SESSION of another session, between two operations of a request. It is executed with
    them, and that session is gone."""
    gone = bench.nfs4_session()
    session = second_session(bench, gone, OTHER)
    expect(session.exchange("PUTROOTFH", destroying(gone), "GETFH"), OTHER, must=[kinds.REPLY])
    after = gone.exchange("PUTROOTFH")
    expect(after, LOST, must=[status("NFS4ERR_BADSESSION")])

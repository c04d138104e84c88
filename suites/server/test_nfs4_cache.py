"""The reply cache of a session where not all went well: requests that failed behind SEQUENCE, or were
illegal, a SEQUENCE alone, and an error of SEQUENCE itself (RFC 8881 2.10.6.1, 2.10.6.4)."""

import pytest
from nfs4_checks import SMALL_REPLY, make_room, need_cached, read_operations, status
from retry_checks import (
    expect_name,
    is_in_order,
    kept_results,
    made_file,
    rename,
    second_connection,
)

from steertag.suite import case, expect, kinds
from steertag.suite.compound import operation
from steertag.suite.nfs4_client import fore_channel

LONE = "RFC8881-2.10.6.1.1-1"
UNTOUCHED = "RFC8881-2.10.6.1.2-1"
ILLEGAL = "RFC8881-2.10.6.1.3-3"
FAILED = "RFC8881-2.10.6.4-3"
# RFC 8881 2.10.6.1.3: of an operation that is illegal, or that the minor version must not support.
REFUSALS = [status(f"NFS4ERR_{name}") for name in ("OP_ILLEGAL", "NOTSUPP", "BADXDR")]


def expect_kept(again, first, requirement_id):
    """The retry has the results of the request."""
    expect(again, requirement_id, must=[first.kind])
    same = kept_results(again) == kept_results(first)
    expect.true(same, requirement_id, "the retry gets the results of the request", outcome=again)


@case("server.nfs4.retry.sequence-alone", requirements=[LONE], needs=["nfs41"])
def test_sequence_alone(bench):
    """A COMPOUND with nothing but SEQUENCE is retried after its connection broke: session, slot and
    sequence ID are cached although nobody asked for it."""
    session = bench.nfs4_session()
    first = session.exchange(slot=1)
    expect(first, LONE, must=[kinds.REPLY])
    conn = second_connection(bench, session, "after-loss")
    expect_kept(session.exchange(conn=conn, slot=1, number=1), first, LONE)


WRONG_NUMBERS = {"ahead": 7, "behind": 0}


@case(
    "server.nfs4.retry.behind-error-{name}",
    requirements=[UNTOUCHED],
    needs=["nfs41"],
    hostile=True,
)
@pytest.mark.parametrize("name", WRONG_NUMBERS)
def test_behind_error(bench, name):
    """Behind a request with sa_cachethis its slot has one that is misordered; then the first one is
    retried after its connection broke: the error has left its reply in the cache."""
    session, files, old = made_file(bench)
    new = bench.name("new")
    operations = rename(session, files, old, new)
    first = session.exchange(*operations, slot=1, cachethis=True)
    expect(first, UNTOUCHED, must=[kinds.REPLY])
    wrong = session.exchange(*operations, slot=1, number=WRONG_NUMBERS[name])
    expect(wrong, UNTOUCHED, must=[status("NFS4ERR_SEQ_MISORDERED")])
    conn = second_connection(bench, session, "after-loss")
    again = session.exchange(*operations, conn=conn, slot=1, number=1, cachethis=True)
    expect_kept(again, first, UNTOUCHED)
    session.conn = conn
    expect_name(files, new, UNTOUCHED)


def set_client_id():
    """SETCLIENTID, an operation of minor version 0 alone."""
    return operation("SETCLIENTID", client={"verifier": b"steertag", "id": b"of version 4.0"})


ILLEGAL_OPERATIONS = {"operation": lambda: "ILLEGAL", "setclientid": set_client_id}


@case(
    "server.nfs4.retry.illegal-{name}",
    requirements=[ILLEGAL],
    needs=["nfs41"],
    hostile=True,
)
@pytest.mark.parametrize("name", ILLEGAL_OPERATIONS)
def test_illegal(bench, name):
    """The operation behind SEQUENCE is illegal, or one that minor version 1 has no more, and its reply is
    not to be cached. The retry finds it as illegal as the request did, and no reply missing."""
    session = bench.nfs4_session()
    wrong = ILLEGAL_OPERATIONS[name]()
    expect(session.exchange(wrong, slot=1), ILLEGAL, must=REFUSALS)
    conn = second_connection(bench, session, "after-loss")
    expect(session.exchange(wrong, conn=conn, slot=1, number=1), ILLEGAL, must=REFUSALS)


@case("server.nfs4.retry.failed", requirements=[FAILED], needs=["nfs41"])
def test_failed(bench):
    """RENAME is executed and the LOOKUP behind it fails, in a request with sa_cachethis: its retry gets the
    same results, and nothing is renamed twice."""
    session, files, old = made_file(bench)
    new = bench.name("new")
    operations = rename(session, files, old, new)
    operations.append(operation("LOOKUP", objname=bench.name("nowhere")))
    first = session.exchange(*operations, slot=1, cachethis=True)
    expect(first, FAILED, must=[status("NFS4ERR_NOENT")])
    conn = second_connection(bench, session, "after-loss")
    again = session.exchange(*operations, conn=conn, slot=1, number=1, cachethis=True)
    expect_kept(again, first, FAILED)
    session.conn = conn
    expect_name(files, new, FAILED)


@case("server.nfs4.retry.too-big-to-cache", requirements=[FAILED], needs=["nfs41"])
def test_too_big_to_cache(bench):
    """RENAME is executed, and the READ behind it would make the reply larger than the session caches: the
    reply with that error is cached in place of it."""
    session = bench.nfs4_session(csa_fore_chan_attrs=fore_channel(ca_maxresponsesize_cached=1024))
    need_cached(bench, session, SMALL_REPLY)
    files = bench.nfs4_files(session)
    old, new = bench.name("old"), bench.name("new")
    handle = files.file(bytes(2048), old)
    operations = rename(session, files, old, new) + read_operations(handle, (0, 2048))
    calls = [session.call(*operations, slot=1, cachethis=True)]
    make_room(session.conn, calls[0], 2048 + SMALL_REPLY)
    first = session.conn.exchange(calls[0])
    too_big = status("NFS4ERR_REP_TOO_BIG_TO_CACHE")
    shorter = {kinds.REPLY: "READ returns fewer octets, so that the reply fits"}
    expect(first, FAILED, must=[too_big], latitude=shorter)
    if first.kind != too_big or not is_in_order(first):
        bench.not_testable("the server refuses such a request by SEQUENCE, or returns less")
    conn = second_connection(bench, session, "after-loss")
    again = session.call(*operations, conn=conn, slot=1, number=1, cachethis=True)
    make_room(conn, again, 2048 + SMALL_REPLY)
    expect_kept(conn.exchange(again), first, FAILED)

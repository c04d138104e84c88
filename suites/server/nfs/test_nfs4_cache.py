"""The reply cache of a session after errors and changes (RFC 8881 2.10.6.1, 2.10.6.4).

The cases retry requests that failed behind SEQUENCE or were illegal, and a SEQUENCE alone. They
retry a request before an error of SEQUENCE, and a READ of what has changed since."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.cases.case_end import unprepared
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import fore_channel, in_time, putfh, write
from ..nfs4_checks import (
    SMALL_REPLY,
    expect_reads,
    make_room,
    need_cached,
    read_operations,
    status,
    with_file,
)
from .retry_checks import (
    expect_name,
    first_exchange,
    is_in_order,
    kept_results,
    made_file,
    rename,
    retry,
    second_connection,
)

LONE = "RFC8881-2.10.6.1.1-1"
MISORDERED = "RFC8881-2.10.6.1-2"
UNTOUCHED = "RFC8881-2.10.6.1.2-1"
ILLEGAL = "RFC8881-2.10.6.1.3-3"
TOO_BIG = "RFC8881-2.10.6.4-2"
FAILED = "RFC8881-2.10.6.4-3"
CACHED = "RFC8881-18.46.3-5"
# Of a READ, and those of them that another WRITE changes. Both fit a cached reply, and the latter inline.
READ_OCTETS, CHANGED_OCTETS = 1000, 64
# RFC 8881 2.10.6.1.3: an operation that is illegal, or that the minor version must not support.
REFUSALS = [status(f"NFS4ERR_{name}") for name in ("OP_ILLEGAL", "NOTSUPP", "BADXDR")]


def expect_kept(again, first, requirement_id):
    """The retry has the results of its request."""
    expect(again, requirement_id, must=[first.kind])
    same = kept_results(again) == kept_results(first)
    expect.true(same, requirement_id, "the retry gets the results of the request", outcome=again)


@case("server.nfs4.retry.sequence-alone", requirements=[LONE], needs=["nfs41"], over=ANY)
def test_sequence_alone(bench):
    """A COMPOUND with only SEQUENCE is retried after its connection broke. Session, slot and
    sequence ID are cached even without sa_cachethis."""
    session = bench.nfs4_session()
    first = first_exchange(session)
    conn = second_connection(bench, session, "after-loss")
    expect_kept(retry(session, conn), first, LONE)


# Relative to the sequence ID of the slot.
WRONG_NUMBERS = {"ahead": 6, "behind": -1}


@case(
    "server.nfs4.retry.behind-error-{name}",
    requirements=[MISORDERED, UNTOUCHED],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", WRONG_NUMBERS)
def test_behind_error(bench, name):
    """A misordered request follows one with sa_cachethis in its slot. The first one is retried
    after its connection broke. Its reply is still in the cache."""
    session, files, old = made_file(bench)
    new = bench.name("new")
    operations = rename(session, files, old, new)
    first = first_exchange(session, *operations, cachethis=True)
    number = (session.sequences[1] + WRONG_NUMBERS[name]) & 0xFFFFFFFF
    wrong = session.exchange_in_time(*operations, slot=1, number=number)
    expect(wrong, MISORDERED, must=[status("NFS4ERR_SEQ_MISORDERED")])
    conn = second_connection(bench, session, "after-loss")
    again = retry(session, conn, *operations, cachethis=True)
    expect_kept(again, first, UNTOUCHED)
    session.conn = conn
    expect_name(files, new, UNTOUCHED)


def set_client_id():
    """SETCLIENTID, an operation of minor version 0 only."""
    return operation("SETCLIENTID", client={"verifier": b"steertag", "id": b"of version 4.0"})


ILLEGAL_OPERATIONS = {"operation": lambda: "ILLEGAL", "setclientid": set_client_id}
# RFC 8881 2.10.6.1.3.1.
FALSE_RETRY = {
    status("NFS4ERR_SEQ_FALSE_RETRY"): "an illegal operation makes the retry a false one"
}


@case(
    "server.nfs4.retry.illegal-{name}",
    requirements=[ILLEGAL],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", ILLEGAL_OPERATIONS)
def test_illegal(bench, name):
    """The operation behind SEQUENCE is illegal, or was removed in minor version 1. Its reply is not
    to be cached. The retry is refused as illegal too, not with NFS4ERR_RETRY_UNCACHED_REP."""
    session = bench.nfs4_session()
    wrong = ILLEGAL_OPERATIONS[name]()
    first = session.exchange_in_time(wrong, slot=1)
    if first.kind in kinds.BROKEN:
        raise unprepared(session.conn.owed, "the operation", first.kind, first.trace())
    if first.kind not in REFUSALS:
        bench.not_testable("the server does not refuse the operation as illegal")
    conn = second_connection(bench, session, "after-loss")
    expect(retry(session, conn, wrong), ILLEGAL, must=REFUSALS, latitude=FALSE_RETRY)


@case("server.nfs4.retry.failed", requirements=[FAILED], needs=["nfs41"], over=ANY)
def test_failed(bench):
    """In a request with sa_cachethis, RENAME is executed and the LOOKUP behind it fails. The retry
    gets the same results, and nothing is renamed twice."""
    session, files, old = made_file(bench)
    new = bench.name("new")
    operations = rename(session, files, old, new)
    operations.append(operation("LOOKUP", objname=bench.name("nowhere")))
    first = first_exchange(session, *operations, kind=status("NFS4ERR_NOENT"), cachethis=True)
    conn = second_connection(bench, session, "after-loss")
    again = retry(session, conn, *operations, cachethis=True)
    expect_kept(again, first, FAILED)
    session.conn = conn
    expect_name(files, new, FAILED)


# Octets of a READ whose reply is too big for the cache of a session with SMALL_CACHE.
TOO_MANY, SMALL_CACHE = 2048, 1024


def big_exchange(session, conn, operations, **sequence):
    """The Outcome of a request with sa_cachethis, or of its retry, with room for the reply."""

    def attempt():
        call = session.call(*operations, conn=conn, slot=1, cachethis=True, **sequence)
        make_room(conn, call, TOO_MANY + SMALL_REPLY)
        outcome = conn.exchange(call)
        if "number" not in sequence:
            session.take_back(outcome, 1)
        return outcome

    return in_time(conn, "RENAME and READ", attempt)


@case(
    "server.nfs4.retry.too-big-to-cache", requirements=[TOO_BIG, FAILED], needs=["nfs41"], over=ANY
)
def test_too_big_to_cache(bench):
    """RENAME is executed, and the READ behind it makes the reply too big to cache. The cache holds
    the reply with that error instead."""
    fore = fore_channel(ca_maxresponsesize_cached=SMALL_CACHE)
    session = bench.nfs4_session(csa_fore_chan_attrs=fore)
    need_cached(bench, session, SMALL_REPLY)
    if session.largest_read < TOO_MANY:
        bench.not_testable("the session has no room for the reply, cached or not")
    files = bench.nfs4_files(session)
    old, new = bench.name("old"), bench.name("new")
    handle = files.file(bytes(TOO_MANY), old)
    operations = rename(session, files, old, new) + read_operations(handle, (0, TOO_MANY))
    first = big_exchange(session, session.conn, operations)
    too_big = status("NFS4ERR_REP_TOO_BIG_TO_CACHE")
    shorter = {kinds.REPLY: "READ returns fewer octets, so that the reply fits"}
    expect(first, TOO_BIG, must=[too_big], latitude=shorter)
    if first.kind != too_big or not is_in_order(first):
        bench.not_testable("the server refuses such a request by SEQUENCE, or returns less")
    conn = second_connection(bench, session, "after-loss")
    again = big_exchange(session, conn, operations, number=session.sequences[1])
    expect_kept(again, first, FAILED)


@case(
    "server.nfs4.retry.read-changed-{form}",
    requirements=[CACHED],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("form", ["chunk", "inline"])
def test_read_of_changed(bench, form):
    """A READ with sa_cachethis is retried after its connection broke. A WRITE has changed the file
    before that. The retry gets the octets of the first answer."""
    if form == "chunk":
        bench.need("rdma")
    content = bench.random.randbytes(READ_OCTETS)
    session, handle = with_file(bench, content)
    need_cached(bench, session, SMALL_REPLY + READ_OCTETS)

    def exchange(conn, **number):
        operations = read_operations(handle, (0, READ_OCTETS))
        call = session.call(*operations, conn=conn, slot=1, cachethis=True, **number)
        if form == "chunk":
            conn.carry_result(call, READ_OCTETS)
        else:
            make_room(conn, call, READ_OCTETS)
        return conn.exchange(call)

    first = exchange(session.conn)
    expect_reads(first, CACHED, content)
    content = bytes(first.result["READ"].resok4.data)
    others = bytes(each ^ 0xFF for each in content[:CHANGED_OCTETS])
    first_exchange(session, putfh(handle), write(others), slot=0)
    again = exchange(second_connection(bench, session, "after-loss"), number=1)
    expect(again, CACHED, must=[kinds.REPLY])
    data = again.result["READ"].resok4.data
    expect.data(data, content, CACHED, "octets of the READ", outcome=again)

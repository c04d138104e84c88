"""What the cases on the reply cache of a session share.

A RENAME shows whether it was executed twice. The other functions make connections for retries and
compare a retry's results with those of its request."""

from steertag.suite import expect, kinds
from steertag.suite.cases.case_end import unprepared
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import names_of, putfh

from ..nfs4_checks import SMALL_REPLY, need_cached


def rename(session, files, old, new):
    """SAVEFH of the case's directory, and a RENAME within it."""
    directory = files.directory
    return [
        putfh(directory),
        "SAVEFH",
        operation("RENAME", oldname=old, newname=new),
    ]


def made_file(bench):
    """(session, files, name of a file in the case's directory). The session caches small
    replies."""
    session = bench.nfs4_session()
    need_cached(bench, session, SMALL_REPLY)
    files = bench.nfs4_files(session)
    name = bench.name("old")
    files.file(b"content", name)
    return session, files, name


def first_exchange(session, *operations, slot=1, kind=kinds.REPLY, **sequence):
    """The Outcome of a request that the case retries. The case ends unprepared unless it is of this
    kind."""
    outcome = session.exchange_in_time(*operations, slot=slot, **sequence)
    if outcome.kind != kind:
        what = names_of(operations) or "SEQUENCE"
        raise unprepared(session.conn.owed, what, outcome.kind, outcome.trace())
    return outcome


def retry(session, conn, *operations, slot=1, **sequence):
    """The Outcome of the last request of this slot, sent again over this connection."""
    number = session.sequences[slot]
    return session.exchange_in_time(*operations, conn=conn, slot=slot, number=number, **sequence)


def expect_name(files, name, requirement_id):
    """The case's directory has a file of this name."""
    lookup = operation("LOOKUP", objname=name)
    found = files.session.exchange_in_time(putfh(files.directory), lookup)
    expect(found, requirement_id, must=[kinds.REPLY])


def kept_results(outcome):
    """The results that a retry shares with its request. The highest slots and the flags of SEQUENCE
    are left out: a server may return new ones (RFC 8881 2.10.6.1.1)."""
    ok = outcome.result["SEQUENCE"].resok4
    return (ok.sr_sessionid, ok.sr_slotid, ok.sr_sequenceid), outcome.result.results[1:]


def second_connection(bench, session, where):
    """The connection for a retry: the same one, or another one of the session. A requester may
    retry only after its connection broke (RFC 8881 2.10.6.2-1), so "same" is hostile."""
    if where == "same":
        return session.conn
    if where == "after-loss":
        session.conn.abort()
    return bench.connect()


def is_in_order(outcome):
    """Whether SEQUENCE succeeded."""
    result = outcome.result
    return result is not None and "SEQUENCE" in result and int(result["SEQUENCE"].status) == 0

"""Requests of NFS version 4.0 that are repeated after their connection is lost.

A server knows them by seqid (RFC 7530 9.1.7) or has a duplicate request cache (16.33.5)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import getattr_of, lookup
from ..changed_directory import ChangedDirectory
from .duplicate_calls import DuplicateCall
from .duplicate_checks import (
    AGAIN,
    KEPT,
    PORTS,
    Reconnections,
    expect_first_status,
    expect_held,
    first_outcome,
    lose_in_flight,
)
from .nfs40_client import FILE, MISSING, NFS4, RESULT_CONFIRM, THERE, Nfs40Client

SEQID = "RFC7530-9.1.7-1"
USED_UP = "RFC7530-9.1.7-2"
ASSUMED = "RFC7530-16.33.5-1"
EXIST, NOENT = "nfs:NFS4ERR_EXIST", "nfs:NFS4ERR_NOENT"
NOT_SAME = "nfs:NFS4ERR_NOT_SAME"
# That a SETATTR sets.
NEW_MODE = 0o640
# A file that an open-owner makes beside its first one.
SECOND = "second"

# The requests before each one that is repeated.
BEFORE = {
    "open": [],
    "exclusive": [],
    "confirm": ["open"],
    "downgrade": ["open", "confirm", "open_again"],
    "lock": ["open", "confirm"],
    "unlock": ["open", "confirm", "lock"],
    "close": ["open", "confirm"],
}


def confirms(result):
    """Whether an OPEN asks for OPEN_CONFIRM."""
    return bool(result["OPEN"].resok4.rflags & RESULT_CONFIRM)


@case("server.nfs40.duplicate.{name}-{form}", requirements=[SEQID], over=ANY)
@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("form", [*PORTS, "other-xid"])
def test_seqid(bench, name, form):
    """A request with a seqid is answered, and repeated over a new connection. Its seqid says that
    it is a retry, whatever its XID: it gets the stored results."""
    place = ChangedDirectory(bench)
    connections = Reconnections(bench, form)
    conn = connections.next()
    client = Nfs40Client(bench, place)
    client.register(conn)
    must_confirm = False
    for step in BEFORE[name]:
        if step == "confirm" and not must_confirm:
            continue
        result = client.run(conn, *getattr(client, step)())
        client.note(result)
        must_confirm = step == "open" and confirms(result)
    if name == "confirm" and not must_confirm:
        bench.not_testable("the target asks for no OPEN_CONFIRM")
    operations = getattr(client, name)()
    call = client.make(conn, operations)
    first = first_outcome(bench, conn, call)
    made = place.file_id(FILE)
    conn.abort()
    conn = connections.next()
    xid = None if form == "other-xid" else call.xid
    again = conn.exchange(client.make(conn, operations, xid))
    expect(again, SEQID, must=[kinds.REPLY])
    stored = again.result.results == first.result.results
    expect.true(stored, SEQID, "the results are those of the first request", outcome=again)
    same = place.file_id(FILE) == made
    expect.true(same, SEQID, "the name leads to the file that was made first", outcome=again)


# A request that fails: those before it, its status, and what makes it possible: f(client, place, conn).
FAILED = {
    "open-missing": (["open"], NOENT, lambda client, place, conn: place.make_file(MISSING)),
    "open-made": (["open"], EXIST, lambda client, place, conn: place.remove(THERE)),
    "lock-other": (
        ["open", "lock"],
        "nfs:NFS4ERR_DENIED",
        lambda client, place, conn: client.run(conn, *client.unlock()),
    ),
}


@case("server.nfs40.duplicate.failed-{name}-{form}", requirements=[SEQID, USED_UP], over=ANY)
@pytest.mark.parametrize("name", FAILED)
@pytest.mark.parametrize("form", [*PORTS, "other-xid", "once"])
def test_failed_seqid(bench, name, form):
    """A request with a seqid fails, and is repeated over a new connection when it could succeed. It gets the stored
    error, and the next request has the next seqid. `once`: it is not repeated."""
    before, error, make_possible = FAILED[name]
    place = ChangedDirectory(bench)
    place.make_file(THERE)
    connections = Reconnections(bench, form)
    conn = connections.next()
    client = Nfs40Client(bench, place)
    client.register(conn)
    for step in before:
        result = client.run(conn, *getattr(client, step)())
        client.note(result)
        if step == "open" and confirms(result):
            client.note(client.run(conn, *client.confirm()))
    operations = getattr(client, name.replace("-", "_"))()
    call = client.make(conn, operations)
    expect(conn.exchange(call), USED_UP, must=[error])
    make_possible(client, place, conn)
    conn.abort()
    conn = connections.next()
    if form != "once":
        xid = None if form == "other-xid" else call.xid
        expect(conn.exchange(client.make(conn, operations, xid)), SEQID, must=[error])
    client.count()
    closed = conn.exchange(client.make(conn, client.close()))
    expect(closed, USED_UP, must=[kinds.REPLY])


def remove(client, place):
    place.make_file(FILE)
    return DuplicateCall(
        of(client, operation("REMOVE", target=FILE)),
        (NOENT,),
        lambda: place.make_file(FILE),
        lambda: place.has(FILE),
        "the file that another client made under this name is there",
        done=lambda: not place.has(FILE),
        effect="the file is not there any more",
    )


def rename(client, place):
    place.make_file("old")
    moved = place.file_id("old")
    return DuplicateCall(
        of(client, "SAVEFH", operation("RENAME", oldname="old", newname="new")),
        (NOENT,),
        lambda: place.make_file("old"),
        lambda: place.has("old") and place.file_id("new") == moved,
        "the file that another client made under the old name is there, and the first under the new",
        done=lambda: not place.has("old") and place.file_id("new") == moved,
        effect="the file is there under its new name, and not under the old one",
    )


def link(client, place):
    place.make_file(FILE)
    linked = place.file_id(FILE)
    source = client.in_directory(lookup(FILE), "SAVEFH")
    return DuplicateCall(
        of(client, operation("LINK", newname="link"), before=source),
        (EXIST,),
        lambda: place.remove("link"),
        lambda: not place.has("link"),
        "the link that another client has removed is not there",
        done=lambda: place.file_id("link") == linked,
        effect="the file has its second name",
    )


def create(client, place):
    directory = {"objtype": {"type": NFS4.FileType.NF4DIR}, "objname": "directory"}
    making = operation("CREATE", createattrs=NFS4.fattr(mode=0o750), **directory)
    return DuplicateCall(
        of(client, making),
        (EXIST,),
        lambda: place.remove_directory("directory"),
        lambda: not place.has("directory"),
        "the directory that another client has removed is not there",
        done=lambda: place.has("directory"),
        effect="the directory is there",
    )


def setattr_verified(client, place):
    """The other client gives the file its first mode, so that VERIFY succeeds again. It also writes an octet: by the
    size a second execution differs from the kept reply."""
    file = place.make_file(FILE)
    first_mode = place.attributes(file).mode & 0o777
    guard = operation("VERIFY", obj_attributes=NFS4.fattr(mode=first_mode))
    change = operation("SETATTR", obj_attributes=NFS4.fattr(mode=NEW_MODE))

    def undo():
        place.set_mode(file, first_mode)
        place.write(file, b"x")

    return DuplicateCall(
        of(client, lookup(FILE), guard, change, getattr_of("size")),
        (NOT_SAME,),
        undo,
        lambda: place.attributes(file).mode & 0o777 == first_mode,
        "the file has the mode that another client has set",
        done=lambda: place.attributes(file).mode & 0o777 == NEW_MODE,
        effect="the file has its new mode",
    )


def of(client, *operations, before=()):
    """What makes the COMPOUND of these operations in the client's directory."""
    whole = [*before, *client.in_directory(*operations)]
    return lambda conn, xid=None: client.make(conn, whole, xid)


NAMES = {
    "remove": remove,
    "rename": rename,
    "link": link,
    "create": create,
    "setattr-verified": setattr_verified,
}


def named(bench, name, port):
    """(Reconnections, their first connection, the DuplicateCall of this name, its call)."""
    place = ChangedDirectory(bench)
    client = Nfs40Client(bench, place)
    connections = Reconnections(bench, port)
    conn = connections.next()
    client.run(conn, "PUTROOTFH")
    request = NAMES[name](client, place)
    return connections, conn, request, request.make(conn)


@case("server.nfs40.duplicate.{name}-{port}", requirements=[ASSUMED, KEPT], over=ANY)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("port", PORTS)
def test_names(bench, name, port):
    """A COMPOUND that changes names or a mode is repeated over a new connection, after another client
    has undone it. It gets its first results, and nothing is done again."""
    connections, conn, request, call = named(bench, name, port)
    first = first_outcome(bench, conn, call)
    conn.abort()
    request.meanwhile()
    conn = connections.next()
    again = conn.exchange(request.make(conn, call.xid))
    expect_first_status(again, first, request.again, ASSUMED)
    expect_held(request.holds(), request.sentence, again, first, ASSUMED)


@case("server.nfs40.duplicate.unanswered-{name}-{port}", requirements=[ASSUMED], over=ANY)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("port", PORTS)
def test_names_unanswered(bench, name, port):
    """The connection is lost with such a COMPOUND in flight. Whether the server has executed it or not, it succeeds
    when it is repeated, and what it asks for is done."""
    connections, conn, request, call = named(bench, name, port)
    lose_in_flight(conn, call)
    conn = connections.next()
    again = conn.exchange(request.make(conn, call.xid))
    expect(again, ASSUMED, must=[kinds.REPLY], warn=dict.fromkeys(request.again, AGAIN))
    expect.true(request.done(), ASSUMED, request.effect, outcome=again)


@case("server.nfs40.duplicate.unanswered-open-{form}", requirements=[SEQID], over=ANY)
@pytest.mark.parametrize("form", [*PORTS, "other-xid"])
def test_open_unanswered(bench, form):
    """The connection is lost while a confirmed open-owner makes a second file. Whether the server has executed the
    OPEN or not, it succeeds when it is repeated. The file is there, and CLOSE has the next seqid.
    """
    place = ChangedDirectory(bench)
    connections = Reconnections(bench, form)
    conn = connections.next()
    client = Nfs40Client(bench, place)
    client.register(conn)
    opened = client.run(conn, *client.open())
    client.note(opened)
    if confirms(opened):
        client.note(client.run(conn, *client.confirm()))
    operations = client.open(SECOND)
    call = client.make(conn, operations)
    lose_in_flight(conn, call)
    conn = connections.next()
    xid = None if form == "other-xid" else call.xid
    again = conn.exchange(client.make(conn, operations, xid))
    expect(again, SEQID, must=[kinds.REPLY])
    expect.true(place.has(SECOND), SEQID, "the file is there", outcome=again)
    client.note(again.result)
    closed = conn.exchange(client.make(conn, client.close()))
    expect(closed, SEQID, must=[kinds.REPLY])

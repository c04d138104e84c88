"""Calls that are not idempotent, repeated octet for octet after their connection is lost (RFC 1813
4.5). What they have done to files is looked at, not only their status."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from ..changed_directory import ChangedDirectory
from .duplicate_calls import CALLS, NOENT
from .duplicate_checks import (
    AGAIN,
    KEPT,
    ONCE,
    PORTS,
    Reconnections,
    expect_first_status,
    expect_held,
    first_outcome,
    lose_in_flight,
)

NO_COPY = "RFC1813-4.5-2"
EXCLUSIVE = "RFC1813-3.3.8-1"
OTHER_VERIFIER = "RFC1813-3.3.8-2"
EXCLUSIVE_MODE = 2
VERIFIER_OCTETS = 8
# What differs in one octet of a verifier. Linux keeps no first bit of each half: not every file system has times for it.
OTHER_BITS = 0x5A
# Calls in flight when the connection is lost, as far as the grant allows.
PIPELINE = 8
# Of the text of a symbolic link: every file system takes so many, and they do not fit a threshold of
# 1024 octets.
TEXT_OCTETS = 1000
# How such a call is sent: f(conn, call).
LARGE_FORMS = {
    "reduced": lambda conn, call: conn.reduce(call),
    "long-call": lambda conn, call: conn.long_call(call),
}
# Without the reply the client cannot know whether such a call was executed.
UNANSWERED = ("remove", "rmdir", "rename", "create-guarded", "mkdir", "symlink", "link")


def handle_of(outcome):
    """The handle of what the call has made; None if it makes nothing."""
    return getattr(outcome.result.ok, "obj", None)


@case("server.duplicate.{name}-{port}", requirements=[ONCE, KEPT], over=ANY)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("port", PORTS)
def test_answered(bench, name, port):
    """An answered call is repeated over a new connection, after another client has changed what it
    was about. It gets its first status, and nothing is done again."""
    request = CALLS[name](bench)
    connections = Reconnections(bench, port)
    conn = connections.next()
    call = request.make(conn)
    first = first_outcome(bench, conn, call)
    conn.abort()
    request.meanwhile()
    conn = connections.next()
    again = conn.exchange(request.make(conn, call.xid))
    expect_first_status(again, first, request.again)
    if again.kind == kinds.REPLY:
        handle, made = handle_of(again), handle_of(first)
        expect.equal(handle, made, ONCE, "handle of what is made", show=False, outcome=again)
    expect_held(request.holds(), request.sentence, again, first)


@case("server.duplicate.unanswered-{name}-{port}", requirements=[ONCE], over=ANY)
@pytest.mark.parametrize("name", UNANSWERED)
@pytest.mark.parametrize("port", PORTS)
def test_unanswered(bench, name, port):
    """The connection is lost with the call in flight. Whether the server has executed it or not,
    the call succeeds when it is repeated, and what it asks for is done."""
    request = CALLS[name](bench)
    connections = Reconnections(bench, port)
    conn = connections.next()
    call = request.make(conn)
    lose_in_flight(conn, call)
    conn = connections.next()
    again = conn.exchange(request.make(conn, call.xid))
    expect(again, ONCE, must=[kinds.REPLY], warn=dict.fromkeys(request.again, AGAIN))
    expect.true(request.done(), ONCE, request.effect, outcome=again)


@case("server.duplicate.window-{port}", requirements=[ONCE, KEPT], over=ANY)
@pytest.mark.parametrize("port", PORTS)
def test_window(bench, port):
    """A window of REMOVE calls; every second name is there. Other clients make all names, and the
    calls are repeated, last first. Each gets its own first status, and no name is removed."""
    place = ChangedDirectory(bench)
    connections = Reconnections(bench, port)
    conn = connections.next()
    names = [f"file-{number}" for number in range(min(PIPELINE, conn.window))]
    for name in names[::2]:
        place.make_file(name)
    removals = {name: {"object": place.where(name)} for name in names}
    calls = {name: conn.nfs_call("REMOVE", **removals[name]) for name in names}
    outcomes = conn.collect(calls.values())
    conn.abort()
    for name in names:
        place.make_file(name)
    conn = connections.next()
    for name in reversed(names):
        xid = calls[name].xid
        first = expect(outcomes[xid], ONCE, must=[kinds.REPLY, NOENT])
        again = conn.exchange(conn.nfs_call("REMOVE", xid=xid, **removals[name]))
        expect_first_status(again, first, (kinds.REPLY, NOENT))
        expect_held(place.has(name), "a name that another client made is there", again, first)


@case("server.duplicate.other-form-{form}", requirements=[ONCE])
@pytest.mark.parametrize("form", ["reduced", "long-call", "reply-chunk"])
def test_other_form(bench, form):
    """SYMLINK is repeated in another form of the transport: it is the same call."""
    place = ChangedDirectory(bench)
    link = {"symlink_attributes": {}, "symlink_data": "where it leads"}
    fields = {"where": place.where("link"), "symlink": link}
    conn = bench.connect()
    call = conn.nfs_call("SYMLINK", **fields)
    first = first_outcome(bench, conn, call)
    conn.abort()
    conn = bench.connect()
    call = conn.nfs_call("SYMLINK", xid=call.xid, **fields)
    if form == "reduced":
        conn.reduce(call)
    elif form == "long-call":
        conn.long_call(call)
    else:
        conn.reply_chunk(call)
    expect_first_status(conn.exchange(call), first, ("nfs:NFS3ERR_EXIST",))


@case("server.duplicate.large-{form}", requirements=[ONCE, KEPT])
@pytest.mark.parametrize("form", LARGE_FORMS)
def test_large(bench, form):
    """SYMLINK with a long text in a read chunk is repeated after another client has removed the link. It gets its first
    status, and makes nothing again: the length of a call is no reason to forget it."""
    place = ChangedDirectory(bench)
    link = {"symlink_attributes": {}, "symlink_data": "where it leads".ljust(TEXT_OCTETS, "/")}
    fields = {"where": place.where("link"), "symlink": link}

    def make(conn, xid=None):
        call = conn.nfs_call("SYMLINK", xid=xid, **fields)
        LARGE_FORMS[form](conn, call)
        return call

    conn = bench.connect()
    call = make(conn)
    first = first_outcome(bench, conn, call)
    conn.abort()
    place.remove("link")
    conn = bench.connect()
    again = conn.exchange(make(conn, call.xid))
    expect_first_status(again, first, ())
    gone = "the link that another client has removed is not there"
    expect_held(not place.has("link"), gone, again, first)


@case("server.duplicate.exclusive-{form}", requirements=[EXCLUSIVE], over=ANY)
@pytest.mark.parametrize("form", [*PORTS, "other-xid"])
def test_exclusive(bench, form):
    """An exclusive CREATE succeeds again with its verifier, whether the server knows the call by
    its XID or not."""
    place = ChangedDirectory(bench)
    how = {"mode": EXCLUSIVE_MODE, "verf": bench.random.randbytes(8)}
    fields = {"where": place.where("file"), "how": how}
    connections = Reconnections(bench, form)
    conn = connections.next()
    call = conn.nfs_call("CREATE", **fields)
    first_outcome(bench, conn, call)
    made = place.file_id("file")
    conn.abort()
    conn = connections.next()
    xid = None if form == "other-xid" else call.xid
    again = conn.exchange(conn.nfs_call("CREATE", xid=xid, **fields))
    expect(again, EXCLUSIVE, must=[kinds.REPLY])
    same = place.file_id("file") == made
    expect.true(same, EXCLUSIVE, "the name leads to the file that was made first", outcome=again)


@case("server.duplicate.exclusive-other-verifier", requirements=[OTHER_VERIFIER], over=ANY)
def test_exclusive_of_another(bench):
    """An exclusive CREATE with another verifier fails: another client has made the file."""
    expect_verifiers_differ(bench, bench.random.randbytes(8), bench.random.randbytes(8))


@case("server.duplicate.exclusive-other-octet-{octet}", requirements=[OTHER_VERIFIER], over=ANY)
@pytest.mark.parametrize("octet", range(VERIFIER_OCTETS))
def test_exclusive_of_a_near_verifier(bench, octet):
    """An exclusive CREATE fails with a verifier that differs in one octet from that of the file."""
    verifier = bench.random.randbytes(VERIFIER_OCTETS)
    other = bytearray(verifier)
    other[octet] ^= OTHER_BITS
    expect_verifiers_differ(bench, verifier, bytes(other))


def expect_verifiers_differ(bench, verifier, other):
    """A file that was made by the first verifier exists for an exclusive CREATE with the other one."""
    place = ChangedDirectory(bench)
    conn = bench.connect()

    def create(verf):
        how = {"mode": EXCLUSIVE_MODE, "verf": verf}
        return conn.nfs_call("CREATE", where=place.where("file"), how=how)

    first_outcome(bench, conn, create(verifier))
    expect(conn.exchange(create(other)), OTHER_VERIFIER, must=["nfs:NFS3ERR_EXIST"])


# What is called under the XID of a REMOVE: the procedure, its arguments, and whether it is executed.
NO_COPIES = {
    "name": lambda place: (
        ("REMOVE", {"object": place.where("other")}),
        lambda: not place.has("other"),
    ),
    "procedure": lambda place: (
        ("MKDIR", {"where": place.where("made"), "attributes": {"mode": 0o750}}),
        lambda: place.has("made"),
    ),
}


@case("server.duplicate.other-{what}", requirements=[NO_COPY], over=ANY)
@pytest.mark.parametrize("what", NO_COPIES)
def test_no_copy(bench, what):
    """The XID of an answered REMOVE is used again for another call, over a new connection. This
    call is executed, and has its own reply."""
    place = ChangedDirectory(bench)
    place.make_file("file")
    place.make_file("other")
    conn = bench.connect()
    call = conn.nfs_call("REMOVE", object=place.where("file"))
    first_outcome(bench, conn, call)
    conn.abort()
    conn = bench.connect()
    (procedure, fields), is_executed = NO_COPIES[what](place)
    outcome = conn.exchange(conn.nfs_call(procedure, xid=call.xid, **fields))
    expect(outcome, NO_COPY, must=[kinds.REPLY])
    expect.true(is_executed(), NO_COPY, "the call is executed", outcome=outcome)

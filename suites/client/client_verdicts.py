"""Verdicts that many cases share: how a client may end where the documents leave it a choice."""

from steertag.suite import client_kinds as kinds, expect
from steertag.suite.client.script import ERR_CHUNK

LOST = "its connection was lost, and it takes that for the end"
GIVES_UP = "it takes a lost connection for the end, and tells its user"
RETRIED = "the client did the same by a new transaction (RFC 8267 3.1)"
STARVES = "each message that it does not wait for costs it the connection"


def completes(outcome, requirement_id, chunks=False):
    """The client completes, on its connection, although it received a message that no call waits for.

    That message may have met no receive, which ends the connection (RFC 8881 2.9.2: typically one receive for
    each request). Or it had `chunks` of memory that is not there, and the client went by them. Then a client may give
    up. A client that ends the connection itself has not discarded the message silently.
    """
    lost = outcome.may_have_starved() or chunks and outcome.asked_too_much()
    latitude = {kinds.REFUSED: LOST} if lost else None
    expect(outcome, requirement_id, must=[kinds.COMPLETED], latitude=latitude)


def expect_or(bench, outcome, requirement_id, kind, others, ours=None):
    """The client's use ends in this kind or in one of `others`, {kind: why it is legal}.

    Where the documents let a client choose, a case only sees whether harm was done. Our own client is known:
    it ends in `ours`, or else in `kind`, and nothing else passes. Where the server has cost the client its
    connection, it is all the same which side ends that.
    """
    if bench.client.ours:
        expect(outcome, requirement_id, must=[ours or kind])
        return
    must = [kind]
    if kind == kinds.COMPLETED and others.get(kinds.REFUSED) in (LOST, GIVES_UP):
        must.append(kinds.LEFT)
    if kinds.COMPLETED in others:
        others = {kinds.LEFT: others[kinds.COMPLETED], **others}
    expect(outcome, requirement_id, must=must, latitude=others)


def done_otherwise(why):
    """Latitude for a client that completes where the server gives it nothing, over the same connection or
    another."""
    return dict.fromkeys((kinds.COMPLETED, kinds.LEFT), why)


def completes_unless_starved(bench, outcome, requirement_id, refused=None):
    """The client completes, or has lost a connection for want of a receive and still tries when the use ends.

    No document says how long a client waits after such a loss. It may be refused for the reason `refused`.
    """
    # Where the provider does not tell why a connection ended, a second connection shows that one did.
    starved = outcome.starved() or outcome.may_have_starved() and len(outcome.connections) > 1
    if outcome.kind == kinds.HANG and starved:
        expect(outcome, requirement_id, must=[kinds.COMPLETED], latitude={kinds.HANG: STARVES})
    elif refused is not None:
        expect_or(bench, outcome, requirement_id, kinds.COMPLETED, {kinds.REFUSED: refused})
    else:
        completes(outcome, requirement_id)


def speaks_nfs3(bench):
    """Whether the client speaks NFSv3 and MOUNT. Our client reads their results to the last octet."""
    return "client-nfs3" in bench.habits.has


def survives(bench, outcome, requirement_id, either_ends=False):
    """The client completes although the server has ended a connection: it makes its calls again on another
    (RFC 8166 4.5.5), and keeps that one.

    No document says for how many losses. Other clients may tell their user at the first one; ours goes on. With
    `either_ends` it is all the same which side has ended a connection: what came there may end it.
    """
    others = {kinds.REFUSED: GIVES_UP}
    if either_ends:
        expect_or(bench, outcome, requirement_id, kinds.COMPLETED, others)
    else:
        latitude = None if bench.client.ours else others
        expect(outcome, requirement_id, must=[kinds.COMPLETED], latitude=latitude)


def stays(back, outcome, requirement_id):
    """The client keeps the connection over which it is called back, whatever it answers (RFC 8881 2.10.11.2).

    A case that loses it otherwise has nothing to judge.
    """
    what = "the client keeps the connection over which it is called back"
    expect.true(not back.lost, requirement_id, what, outcome=outcome)


def may_hang(bench, why="it goes on trying, as hard mounts do"):
    """Latitude where nothing that a client does gets through.

    No document makes a client give up, and RFC 8881 2.9.2 has it wait while there is a session. Our own
    client gives up.
    """
    return {} if bench.client.ours else {kinds.HANG: why}


def expect_no_resend(bench, outcome, xid, error, before=1):
    """A call that was answered with an error is not sent again. RFC 8267 6.4.2 says so of NFSv4 and
    ERR_CHUNK, where it is no more than a SHOULD NOT. On another connection it may be: the error may have
    gone with the first one. `before`: times that it was sent until the error came."""
    asked = error == ERR_CHUNK and "client-nfs3" not in bench.habits.has
    row = "RFC8267-6.4.2-8" if asked else "RFC8166-4.5-8"
    what = "times that the call was sent on one connection"
    expect.equal(outcome.sends_on_one(xid), 1, row, what, outcome=outcome)
    if outcome.sends_of(xid) > before:
        bench.latitude(row, "it was sent again on another connection")

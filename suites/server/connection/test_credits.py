"""The credit word and the server's receives (RFC 8166 3.3.1, 3.3.3)."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from steertag.suite.rdma.connection import MOST_GRANT
from ..proofs import ONE_XID, expect_reply_unless, takes_two_calls

GRANT = "RFC8166-3.3.1-2"
NOT_ZERO = "RFC8166-3.3.1-5"
TRANSACTION = "RFC8166-3.3.1-3"
RECEIVES = "RFC8166-3.3.1-9"
LEVEL = "RFC8166-3.3.1-7"
REQUEST = "RFC8166-3.3.1-1"
SOLICITED = "RFC8166-3.3.1-11"
# The credits that window cases request, and have receives for. Most servers grant fewer.
ASKED = 256
REQUESTS = {"zero": 0, "one": 1, "many": 65536, "sign-bit": 0x80000000, "largest": 0xFFFFFFFF}
# Calls beyond the grant.
OVERRUNS = {"one": 1, "double": 128, "hundreds": 512}
# Messages that consume a receive and get no reply, as changes to a NULL call.
DISCARDED = ["done", "error", "short", "empty"]
# Windows of discarded messages. Every receive of the server is used several times.
WINDOWS = 4
# The most answers received during the wait for one reply. No server sends more for one window.
MOST_ANSWERS = 2048


def connect(bench):
    """A connection that can use a large grant."""
    return bench.connect(credits=ASKED, receives=ASKED + 8)


def discarded(conn, name):
    """A message that a responder discards (RFC 8166 4.2.4, 4.5, 4.6.2), as octets."""
    call = conn.null_call()
    if name == "done":
        call.proc, call.payload = wire.Procedure.DONE, b""
        return call.encoded()[:16]
    if name == "error":
        call.proc, call.payload = wire.Procedure.ERROR, b""
        return call.encoded()[:16] + b"\0\0\0\2"
    return call.encoded()[:20] if name == "short" else b""


def reply_to(conn, call, requirement_id):
    """The outcome of `call`, which was sent before. Skips answers to other messages."""
    for _ in range(MOST_ANSWERS):
        outcome = conn.await_outcome(call)
        if outcome.xid == call.xid or outcome.kind in kinds.UNANSWERED:
            break
    return expect(outcome, requirement_id, must=[kinds.REPLY])


def expect_window(conn, requirement_id, make_call=None):
    """A full window of calls, sent at once, gets one reply each and no other message."""
    calls = [(make_call or conn.null_call)() for _ in range(conn.window)]
    outcomes = conn.collect(calls)
    for call in calls:
        expect(outcomes[call.xid], requirement_id, must=[kinds.REPLY])
    last = conn.null_call()
    outcome = expect(conn.exchange(last), requirement_id, must=[kinds.REPLY])
    expect.equal(outcome.xid, last.xid, SOLICITED, "XID of the next message", show=False)


@case("server.credit.first-call", requirements=["RFC8166-3.3.3-1", GRANT, NOT_ZERO])
def test_first_call(bench):
    """One call is sent before any grant is known. Its reply carries the grant."""
    conn = bench.connect(greet=False)
    outcome = expect(conn.exchange(conn.null_call()), "RFC8166-3.3.3-1", must=[kinds.REPLY])
    expect.at_least(outcome.header.credit, 1, NOT_ZERO, "credit grant", outcome=outcome)


@case("server.credit.more-on-next.{how}", requirements=[RECEIVES, SOLICITED])
@pytest.mark.parametrize("how", ["close", "abort"])
def test_more_on_next(bench, how):
    """Each connection asks for other credits than the one before, once or many. A whole window follows its first grant
    at once: receives are of a connection (RFC 8166 3.3.3). With `abort` the one before ends amid such a window.
    """
    for credits in (1, ASKED, 1, ASKED):
        conn = bench.connect(credits=credits, receives=ASKED + 8, greet=False)
        expect(conn.exchange(conn.null_call()), RECEIVES, must=[kinds.REPLY])
        expect_window(conn, RECEIVES)
        if how == "abort":
            for _ in range(conn.window):
                conn.send(conn.null_call())
            conn.abort()
        else:
            conn.close()


def with_unknown_procedure(conn):
    """A NULL call with an unknown rdma_proc."""
    call = conn.null_call()
    call.proc = 5
    return call


def with_version_two(conn):
    """A NULL call with an unsupported rdma_vers."""
    call = conn.null_call()
    call.vers = 2
    return call


ANSWERS = {
    "reply": lambda conn: conn.null_call(),
    "program-unavailable": lambda conn: conn.rpc_call(0x2000FFFF, 1, 0),
    "procedure-unavailable": lambda conn: conn.rpc_call(100003, 3, 99),
    "err-chunk": with_unknown_procedure,
    "err-vers": with_version_two,
}


@case("server.credit.granted-in-{name}", requirements=[GRANT, NOT_ZERO], hostile=True)
@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_grants(bench, name):
    """Every kind of answer grants at least one credit."""
    conn = bench.connect()
    outcome = conn.exchange(ANSWERS[name](conn))
    expect.true(
        outcome.kind not in kinds.UNANSWERED, GRANT, "the message is answered", outcome=outcome
    )
    expect.at_least(outcome.header.credit, 1, NOT_ZERO, "credit grant", outcome=outcome)


@case("server.credit.request-{name}", requirements=[REQUEST, NOT_ZERO])
@pytest.mark.parametrize("name", REQUESTS)
def test_request(bench, name):
    """A client may request any number of credits. The grant stays in bounds, and the next call
    works."""
    conn = bench.connect()
    for _ in range(2):
        call = conn.null_call()
        call.credit = REQUESTS[name]
        outcome = expect(conn.exchange(call), REQUEST, must=[kinds.REPLY])
        expect.at_least(outcome.header.credit, 1, NOT_ZERO, "credit grant", outcome=outcome)
    expect(conn.probe(), REQUEST, must=[kinds.REPLY])


@case("server.credit.first-request-{name}", requirements=[REQUEST, NOT_ZERO])
@pytest.mark.parametrize("name", REQUESTS)
def test_first_request(bench, name):
    """The first message of a connection may request any number of credits."""
    conn = bench.connect(greet=False)
    call = conn.null_call()
    call.credit = REQUESTS[name]
    outcome = expect(conn.exchange(call), REQUEST, must=[kinds.REPLY])
    expect.at_least(outcome.header.credit, 1, NOT_ZERO, "credit grant", outcome=outcome)
    expect(conn.probe(), REQUEST, must=[kinds.REPLY])


@case("server.credit.requests-change", requirements=[REQUEST, NOT_ZERO, RECEIVES, SOLICITED])
def test_changing_requests(bench):
    """A requester may change its request in every message (RFC 8166 3.3.1). The last grant is in
    force."""
    conn = connect(bench)
    for credit in (32, 1, 0xFFFFFFFF, 0, 7, ASKED):
        call = conn.null_call()
        call.credit = credit
        outcome = expect(conn.exchange(call), REQUEST, must=[kinds.REPLY])
        expect.at_least(outcome.header.credit, 1, NOT_ZERO, "credit grant", outcome=outcome)
    expect_window(conn, RECEIVES)


@case(
    "server.credit.grant-follows-request",
    requirements=["RFC8166-3.3.1-8"],
    unbroken="RFC8166-3.3.1-8 is a permission: the case only notes the choice.",
)
def test_grant_and_request(bench):
    """The responder chooses whether its grant follows the request."""
    conn = connect(bench)
    grants = []
    for credit in (ASKED, 1, ASKED):
        call = conn.null_call()
        call.credit = credit
        outcome = expect(conn.exchange(call), "RFC8166-3.3.1-8", must=[kinds.REPLY])
        grants.append(outcome.header.credit)
    if grants[1] > 1:
        bench.latitude("RFC8166-3.3.1-8", "the grant does not follow a smaller request")


@case("server.credit.window", requirements=[TRANSACTION, SOLICITED])
def test_window(bench):
    """A full window of NULL calls at once: each is answered once."""
    expect_window(connect(bench), TRANSACTION)


@case("server.credit.window-again", requirements=[LEVEL, SOLICITED])
def test_window_again(bench):
    """Grants are levels: full windows one after the other do not use them up."""
    conn = connect(bench)
    for _ in range(4):
        expect_window(conn, LEVEL)


@case("server.credit.steady", requirements=[LEVEL, "RFC8166-3.3.1-8"])
def test_steady_grant(bench):
    """More single calls are sent than were ever granted. The grant does not count down with
    them."""
    conn = connect(bench)
    first = conn.grant
    grants = []
    for _ in range(min(first, 64) * 2):
        outcome = expect(conn.exchange(conn.null_call()), LEVEL, must=[kinds.REPLY])
        grants.append(conn.grant)
    # A grant may fall with any message, but hardly by one each time until nothing is left.
    countdown = list(range(first - 1, 0, -1))[: len(grants)]
    counts = first > 2 and grants[: len(countdown)] == countdown
    expect.true(not counts, LEVEL, "the grant does not count calls", outcome=outcome)
    if set(grants) != {first}:
        bench.latitude("RFC8166-3.3.1-8", "the grant changes under a steady load")


@case("server.credit.window-pulled", requirements=[RECEIVES, SOLICITED])
def test_window_of_pulled_calls(bench):
    """A full window of calls, and each waits for its RDMA Read. All are outstanding when the last
    arrives, so each needs a receive of its own."""
    conn = connect(bench)

    def pulled_call():
        call = conn.null_call()
        conn.long_call(call)
        return call

    expect_window(conn, RECEIVES, pulled_call)


@case("server.credit.window-of-first-grant", requirements=[RECEIVES, SOLICITED])
def test_window_after_the_first_grant(bench):
    """The server posts its receives before it sends the first grant. A whole window follows the
    grant at once."""
    conn = bench.connect(credits=ASKED, receives=ASKED + 8, greet=False)
    expect(conn.exchange(conn.null_call()), RECEIVES, must=[kinds.REPLY])
    expect_window(conn, RECEIVES)


@case("server.credit.window-mixed", requirements=[TRANSACTION, SOLICITED])
def test_window_of_different_calls(bench):
    """Long and short calls, with and without chunks, share one window. Replies arrive in any order,
    each with its own XID."""
    content = bench.random.randbytes(65536)
    handle = bench.file(content[:4096])
    conn = connect(bench)
    calls, expected = [], {}
    for number in range(min(conn.window, 24)):
        call = conn.nfs_call("GETATTR", object=handle)
        if number % 4 == 1:
            call = conn.nfs_call("READ", file=handle, offset=number, count=1024)
            conn.write_chunk(call, 1024)
            expected[call.xid] = content[number : number + 1024]
        elif number % 4 == 2:
            conn.long_call(call)
        elif number % 4 == 3:
            call = conn.null_call()
        calls.append(call)
    outcomes = conn.collect(calls)
    for call in calls:
        outcome = expect(outcomes[call.xid], TRANSACTION, must=[kinds.REPLY])
        if call.xid in expected and len(outcome.data) == 1024:
            expect.data(outcome.data, expected[call.xid], TRANSACTION, "data of the READ")
    last = conn.null_call()
    outcome = expect(conn.exchange(last), TRANSACTION, must=[kinds.REPLY])
    expect.equal(outcome.xid, last.xid, SOLICITED, "XID of the next message", show=False)


@case(
    "server.credit.overrun-{form}-by-{name}",
    requirements=["RFC8166-3.3.1-4", "RFC8166-2.3.2-2"],
    hostile=True,
    unbroken="RFC8166-2.3.2-2: the provider ends the connection when a Send meets no receive.",
)
@pytest.mark.parametrize("form", ["null", "pulled"])
@pytest.mark.parametrize("name", OVERRUNS)
def test_overrun(bench, name, form):
    """More calls than granted: they are answered, or the connection ends (RFC 8166 3.3.1). Other
    connections are served."""
    other = bench.connect()
    conn = connect(bench)
    if conn.grant == MOST_GRANT:
        bench.not_testable("the server grants more calls than the case sends")
    calls = [conn.null_call() for _ in range(conn.grant + OVERRUNS[name])]
    if form == "pulled":
        for call in calls:
            conn.long_call(call)
    outcomes = conn.collect(calls)
    for outcome in outcomes.values():
        expect(outcome, "RFC8166-3.3.1-4", must=[kinds.REPLY, *kinds.CLOSED])
    expect(other.probe(), "RFC8166-2.3.2-2", must=[kinds.REPLY])
    if conn.open:
        expect(conn.probe(), "RFC8166-2.3.2-2", must=[kinds.REPLY])


@case(
    "server.credit.discarded-{name}",
    requirements=[RECEIVES],
    tolerates=dict.fromkeys(("RFC8166-4.5-1", "RFC8166-4.5-4"), "asserted by the header cases"),
    bugs=["B36"],
    hostile=True,
)
@pytest.mark.parametrize("name", DISCARDED)
def test_receives_of_discarded_messages(bench, name):
    """Windows of messages that consume a receive and get no reply. The server posts the receives
    again."""
    conn = connect(bench)
    if conn.window < 2:
        bench.not_testable("a grant of one leaves no room for a message beside the probe")
    for _ in range(WINDOWS):
        for _ in range(conn.window - 1):
            conn.send(discarded(conn, name))
        probe = conn.null_call()
        conn.send(probe)
        reply_to(conn, probe, RECEIVES)


@case("server.credit.after-errors-{name}", requirements=[RECEIVES, SOLICITED], hostile=True)
@pytest.mark.parametrize("name", ["err-chunk", "err-vers", "program-unavailable"])
def test_receives_after_errors(bench, name):
    """Windows of calls that end in errors, then one of good calls. Errors use up no credit."""
    conn = connect(bench)
    for _ in range(WINDOWS):
        calls = [ANSWERS[name](conn) for _ in range(conn.window)]
        for outcome in conn.collect(calls).values():
            expect.true(
                outcome.kind not in kinds.UNANSWERED, RECEIVES, "each is answered", outcome=outcome
            )
    expect_window(conn, RECEIVES)


@case("server.credit.same-xid", requirements=["RFC8166-4.2.1-1", TRANSACTION], hostile=True)
def test_same_xid_twice(bench):
    """Two calls with one XID are outstanding. At least one of them is answered, and the connection
    still works."""
    conn = bench.connect()
    call = conn.null_call()
    conn.send(call)
    outcome = conn.exchange(call)
    if expect_reply_unless(outcome, "RFC8166-4.2.1-1", ONE_XID, lambda: takes_two_calls(bench)):
        last = conn.null_call()
        conn.send(last)
        reply_to(conn, last, TRANSACTION)

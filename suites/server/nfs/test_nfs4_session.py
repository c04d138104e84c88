"""Sessions of NFS version 4.1: what CREATE_SESSION grants, and whether it holds.

The clauses are RFC 8881 2.10.6.4, 2.10.7 and 18.36."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.cases.case_end import unprepared
from steertag.suite.nfs_client.nfs4_client import (
    NO_CREDENTIAL,
    backchannel,
    fore_channel,
    getattr_of,
    putfh,
    write,
)
from ..chunk_checks import OVERRUN
from ..message_words import words
from ..nfs4_checks import (
    BACK,
    MALFORMED,
    NFS4,
    expect_reads,
    items,
    make_room,
    read_operations,
    status,
    with_file,
)

NEVER_RAISED = "RFC8881-18.36.3-5"
TOO_SMALL = "RFC8881-18.36.3-14"
HONEST = "RFC8881-18.36.3-1"
SIZES = "RFC8881-18.36.3-9"
TOO_BIG = "RFC8881-2.10.6.4-1"
IN_CHUNK = "RFC8267-6.4.1-4"
# A COMPOUND with more operations may not fit inline. A server may grant any number.
MOST_TRIED = 64
# Attributes that a server may lower and never raises.
LOWERED = (
    "ca_headerpadsize",
    "ca_maxrequestsize",
    "ca_maxresponsesize",
    "ca_maxresponsesize_cached",
)
OFFERS = {
    "usual": {},
    "small": {"ca_maxrequestsize": 4096, "ca_maxresponsesize": 4096},
    "odd": {"ca_maxrequestsize": 65537, "ca_maxresponsesize": 65539},
    "nothing-cached": {"ca_maxresponsesize_cached": 0},
    "all-cached": {"ca_maxresponsesize_cached": 1 << 20},
    "one-slot": {"ca_maxrequests": 1},
    "many-slots": {"ca_maxrequests": 4096},
    "few-operations": {"ca_maxoperations": 8},
    "many-operations": {"ca_maxoperations": 0xFFFFFFFF},
    "padding": {"ca_headerpadsize": 512},
    "largest": {
        "ca_maxrequestsize": 0xFFFFFFFF,
        "ca_maxresponsesize": 0xFFFFFFFF,
        "ca_maxresponsesize_cached": 0xFFFFFFFF,
    },
}


def create(bench, **fields):
    """(client, Outcome) of CREATE_SESSION by a new client."""
    client = bench.nfs4_client()
    prepare(client)
    return client, client.create_session(**fields)


def prepare(client):
    """Sends EXCHANGE_ID."""
    made = client.exchange_id()
    if made.kind != kinds.REPLY:
        raise unprepared(client.conn.owed, "EXCHANGE_ID", made.kind, made.trace())


def granted(outcome):
    return outcome.result["CREATE_SESSION"].resok4


def expect_word(outcome, number, value, requirement_id, what):
    """The transport header of the message, of any kind, has this word. A record has no such header."""
    found = words(outcome.raw) if outcome.conn.has_header else ()
    if len(found) > number:
        expect.equal(found[number], value, requirement_id, what, outcome=outcome)


@case(
    "server.nfs4.session.fore-{name}",
    requirements=[NEVER_RAISED, HONEST, "RFC8881-2.10.7.3-1"],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("name", OFFERS)
def test_fore_channel(bench, name):
    """The server raises no limit of the fore channel, and the session works within the granted
    limits."""
    asked = fore_channel(**OFFERS[name])
    client, outcome = create(bench, csa_fore_chan_attrs=asked)
    no_space = {status("NFS4ERR_NOSPC"): "no space for such a reply cache (RFC 8881 18.36.4)"}
    expect(outcome, NEVER_RAISED, must=[kinds.REPLY], latitude=no_space if OFFERS[name] else None)
    if outcome.kind != kinds.REPLY:
        return
    given = granted(outcome).csr_fore_chan_attrs
    for field in LOWERED:
        expect.at_most(getattr(given, field), getattr(asked, field), NEVER_RAISED, field, outcome)
    expect.at_least(given.ca_maxrequests, 1, HONEST, "ca_maxrequests", outcome)
    session = client.sessions[0]
    last = session.exchange("PUTROOTFH", slot=given.ca_maxrequests - 1)
    # RFC 8881 2.10.7.3: padding would be RDMA_MSGP, which is no longer sent.
    expect_word(last, 3, 0, "RFC8881-2.10.7.3-1", "rdma_proc")
    expect(last, HONEST, must=[kinds.REPLY])


@case(
    "server.nfs4.session.fore-tiny-{field}",
    requirements=[NEVER_RAISED, TOO_SMALL],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("field", ["request", "response"])
def test_tiny_channel(bench, field):
    """A size is too small for any SEQUENCE. The server refuses it, as it should for responses, or
    grants it without raising it (RFC 8881 18.36.3)."""
    name = f"ca_max{field}size"
    _, outcome = create(bench, csa_fore_chan_attrs=fore_channel(**{name: 16}))
    expect(outcome, NEVER_RAISED, must=[kinds.REPLY, status("NFS4ERR_TOOSMALL")])
    if field == "response":
        expect(outcome, TOO_SMALL, should=[status("NFS4ERR_TOOSMALL")])
    if outcome.kind == kinds.REPLY:
        value = getattr(granted(outcome).csr_fore_chan_attrs, name)
        expect.at_most(value, 16, NEVER_RAISED, name, outcome)


BACK_OFFERS = {
    "usual": {},
    "one-slot": {"ca_maxrequests": 1},
    "many-slots": {"ca_maxrequests": 512},
    "two-operations": {"ca_maxoperations": 2},
    "many-operations": {"ca_maxoperations": 1000},
    "small": {"ca_maxrequestsize": 1024, "ca_maxresponsesize": 1024},
    "large": {"ca_maxrequestsize": 1 << 20, "ca_maxresponsesize": 1 << 20},
}


@case(
    "server.nfs4.session.back-{name}",
    requirements=[NEVER_RAISED, "RFC8881-18.36.3-6", "RFC8881-2.10.3-1"],
    needs=["backchannel"],
    over=ANY,
)
@pytest.mark.parametrize("name", BACK_OFFERS)
def test_backchannel(bench, name):
    """The server grants the backchannel. It raises none of its sizes, and changes neither
    operations nor slots."""
    asked = backchannel(**BACK_OFFERS[name])
    client = bench.nfs4_client(callbacks=True)
    prepare(client)
    outcome = client.create_session(csa_flags=BACK, csa_back_chan_attrs=asked)
    refused = {status("NFS4ERR_TOOSMALL"): "a backchannel in which no callback of this server fits"}
    expect(outcome, "RFC8881-2.10.3-1", must=[kinds.REPLY], latitude=refused)
    if outcome.kind != kinds.REPLY:
        return
    given = granted(outcome).csr_back_chan_attrs
    agreed = granted(outcome).csr_flags & BACK
    if not agreed and BACK_OFFERS[name]:
        bench.latitude("RFC8881-2.10.3-1", "no backchannel with such attributes")
        return
    expect.true(agreed, "RFC8881-2.10.3-1", "the backchannel is granted", outcome=outcome)
    for field in LOWERED:
        expect.at_most(getattr(given, field), getattr(asked, field), NEVER_RAISED, field, outcome)
    for field in ("ca_maxoperations", "ca_maxrequests"):
        expect.equal(
            getattr(given, field),
            getattr(asked, field),
            "RFC8881-18.36.3-6",
            f"{field} of the backchannel",
            outcome=outcome,
        )


FLAGS = {
    "none": 0,
    "persist": NFS4.CREATE_SESSION4_FLAG_PERSIST,
    "back": BACK,
    "rdma": NFS4.CREATE_SESSION4_FLAG_CONN_RDMA,
    "back-rdma": BACK | NFS4.CREATE_SESSION4_FLAG_CONN_RDMA,
}


@case(
    "server.nfs4.session.flags-{name}",
    requirements=[
        "RFC8881-18.36.3-2",
        "RFC8881-18.36.3-3",
        "RFC8881-18.36.3-4",
        "RFC8881-2.10.7.4-1",
        "RFC8166-4.2.4-1",
    ],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("name", FLAGS)
def test_flags(bench, name):
    """No unrequested flag is set. A connection in RDMA mode stays in it, whatever the flags say of
    RDMA. Over TCP no flag asks for RDMA, which could end the records."""
    rdma = NFS4.CREATE_SESSION4_FLAG_CONN_RDMA
    if FLAGS[name] & rdma:
        bench.need("rdma")
    session = bench.nfs4_session(csa_flags=FLAGS[name], settings={"callbacks": True})
    outcome = session.exchange("PUTROOTFH")
    given, asked = session.granted.csr_flags, FLAGS[name]
    expect.equal(given & BACK & ~asked, 0, "RFC8881-18.36.3-2", "CONN_BACK_CHAN unasked")
    expect.equal(given & rdma & ~asked, 0, "RFC8881-18.36.3-3", "CONN_RDMA unasked")
    expect_word(outcome, 1, 1, "RFC8881-2.10.7.4-1", "rdma_vers")
    expect(outcome, "RFC8881-18.36.3-4", must=[kinds.REPLY])


@case(
    "server.nfs4.session.ird-{name}",
    requirements=["RFC8881-18.36.3-7", NEVER_RAISED],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("name", ["none", "0", "1", "16", "4294967295"])
def test_rdma_ird(bench, name):
    """ca_rdma_ird with no element and with one. The server neither raises the element nor adds
    one."""
    asked = [] if name == "none" else [int(name)]
    _, outcome = create(bench, csa_fore_chan_attrs=fore_channel(ca_rdma_ird=asked))
    expect(outcome, "RFC8881-18.36.3-7", must=[kinds.REPLY])
    given = granted(outcome).csr_fore_chan_attrs.ca_rdma_ird
    most = asked[0] if asked else 0
    expect.at_most(len(given), len(asked), NEVER_RAISED, "elements of ca_rdma_ird", outcome)
    expect.at_most(max(given, default=0), most, NEVER_RAISED, "ca_rdma_ird", outcome)


@case(
    "server.nfs4.session.ird-two-elements",
    requirements=["RFC8881-18.36.3-7"],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
    unbroken="The codec of channel_attrs4 holds one element.",
)
def test_two_rdma_ird(bench):
    """ca_rdma_ird with two elements is no valid XDR of channel_attrs4."""
    client = bench.nfs4_client()
    prepare(client)
    one = fore_channel(ca_rdma_ird=[7]).encode()
    call = client.create_session_call(csa_fore_chan_attrs=fore_channel(ca_rdma_ird=[7]))
    two = one[:-8] + (2).to_bytes(4, "big") + (7).to_bytes(4, "big") + (8).to_bytes(4, "big")
    at = bytes(call.payload).index(one)
    call.payload = bytes(call.payload)[:at] + two + bytes(call.payload)[at + len(one) :]
    outcome = client.conn.exchange(call)
    expect(outcome, "RFC8881-18.36.3-7", must=MALFORMED)


# -- limits that were granted ----------------------------------------------------------------------


@case(
    "server.nfs4.session.too-many-operations",
    requirements=["RFC8881-18.36.3-8"],
    needs=["nfs41"],
    over=ANY,
)
def test_too_many_operations(bench):
    """As many operations as granted are executed. With one more, SEQUENCE returns
    NFS4ERR_TOO_MANY_OPS."""
    session = bench.nfs4_session(csa_fore_chan_attrs=fore_channel(ca_maxoperations=6))
    most = session.fore.ca_maxoperations
    if most > MOST_TRIED:
        bench.not_testable("the server grants more operations than the case has")
    expect(session.exchange(*["PUTROOTFH"] * (most - 1)), "RFC8881-18.36.3-8", must=[kinds.REPLY])
    refused = session.exchange(*["PUTROOTFH"] * most)
    expect(refused, "RFC8881-18.36.3-8", must=[status("NFS4ERR_TOO_MANY_OPS")])


def _write_of(bench, session, handle, size):
    """A WRITE whose RPC message has this many octets, a multiple of four."""
    empty = len(session.call(putfh(handle), write(b""), number=1).whole)
    if empty > size:
        bench.not_testable("the session has no room for a WRITE")
    return session.call(putfh(handle), write(bytes(size - empty)))


@case(
    "server.nfs4.session.request-size-{name}",
    requirements=[TOO_BIG, SIZES],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("name", ["at-limit", "above-limit"])
def test_request_size(bench, name):
    """Data counts towards ca_maxrequestsize, in a read chunk too. The transport header and the
    record mark do not."""
    attrs = fore_channel(ca_maxrequestsize=8192)
    session, handle = with_file(bench, b"", csa_fore_chan_attrs=attrs)
    most = session.fore.ca_maxrequestsize & ~3  # XDR messages are multiples of four
    call = _write_of(bench, session, handle, most if name == "at-limit" else most + 4)
    session.conn.carry_arguments(call)
    outcome = session.conn.exchange(call)
    if name == "at-limit":
        expect(outcome, SIZES, must=[kinds.REPLY])
    else:
        expect(outcome, TOO_BIG, must=[status("NFS4ERR_REQ_TOO_BIG")])


def expect_fits(outcome, requirement_id, error, most):
    """Expects the error, or a READ of fewer octets than asked for (RFC 8881 18.22.3). The reply
    then has at most `most` octets."""
    shorter = {kinds.REPLY: "READ returns fewer octets, so that the reply fits"}
    expect(outcome, requirement_id, must=[status(error)], latitude=shorter)
    if outcome.kind == kinds.REPLY:
        expect.at_most(len(outcome.whole), most, requirement_id, "octets of the reply", outcome)


@case(
    "server.nfs4.session.response-size-{name}",
    requirements=[TOO_BIG, SIZES],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("name", ["below-limit", "above-limit"])
def test_response_size(bench, name):
    """Data counts towards ca_maxresponsesize, in a write chunk too. The chunk has room for all of it,
    so the error is one of NFS and not ERR_CHUNK."""
    content = bench.random.randbytes(16384)
    attrs = fore_channel(ca_maxresponsesize=8192)
    session, handle = with_file(bench, content, csa_fore_chan_attrs=attrs)
    most = session.fore.ca_maxresponsesize
    length = session.largest_read if name == "below-limit" else most
    call = session.call(*read_operations(handle, (0, length)))
    session.conn.carry_result(call, length)
    outcome = session.conn.exchange(call)
    if name == "below-limit":
        expect_reads(outcome, SIZES, content[:length])
    else:
        expect_fits(outcome, TOO_BIG, "NFS4ERR_REP_TOO_BIG", most)


@case(
    "server.nfs4.session.cached-size-{form}",
    requirements=["RFC8881-2.10.6.4-2"],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("form", ["chunk", "inline"])
def test_cached_size(bench, form):
    """A reply that is to be cached does not exceed ca_maxresponsesize_cached, with its data inline
    or in a chunk."""
    if form == "chunk":
        bench.need("rdma")
    attrs = fore_channel(ca_maxresponsesize_cached=1024)
    session, handle = with_file(bench, bytes(2048), csa_fore_chan_attrs=attrs)
    call = session.call(*read_operations(handle, (0, 2048)), cachethis=True)
    if form == "chunk":
        session.conn.write_chunk(call, 2048)
    else:
        make_room(session.conn, call, 2048)
    outcome = session.conn.exchange(call)
    most = session.fore.ca_maxresponsesize_cached
    expect_fits(outcome, "RFC8881-2.10.6.4-2", "NFS4ERR_REP_TOO_BIG_TO_CACHE", most)


@case(
    "server.nfs4.session.slots-and-credits-{name}",
    requirements=["RFC8267-6.6-2", "RFC8881-2.10.7.1-1"],
    needs=["nfs41"],
)
@pytest.mark.parametrize("name", ["more-slots", "more-credits"])
def test_slots_and_credits(bench, name):
    """Slots and credits may differ. As many requests as both allow are answered at once."""
    settings = {"credits": 4} if name == "more-slots" else {"credits": 32}
    attrs = fore_channel(ca_maxrequests=16 if name == "more-slots" else 2)
    session = bench.nfs4_session(settings=settings, csa_fore_chan_attrs=attrs)
    session.run("PUTROOTFH")
    count = min(session.conn.window, session.slots, MOST_TRIED)
    calls = [session.call("PUTROOTFH", getattr_of("type"), slot=slot) for slot in range(count)]
    for outcome in session.conn.collect(calls).values():
        expect(outcome, "RFC8267-6.6-2", must=[kinds.REPLY])
        expect.equal(len(outcome.result.results), 3, "RFC8881-2.10.7.1-1", "results of a COMPOUND")


@case("server.nfs4.session.no-protection", requirements=[HONEST], needs=["backchannel"], over=ANY)
def test_no_protection(bench):
    """With SP4_NONE and callbacks under AUTH_NONE a whole session works: nothing needs an SSV."""
    session = bench.nfs4_session(back=True, csa_sec_parms=[NO_CREDENTIAL])
    expect(session.exchange("PUTROOTFH"), HONEST, must=[kinds.REPLY])
    expect(session.destroy(), HONEST, must=[kinds.REPLY])
    gone = session.exchange("PUTROOTFH")
    expect(gone, HONEST, must=[status("NFS4ERR_BADSESSION")])


@case(
    "server.nfs4.session.second-{name}",
    requirements=["RFC8881-2.10.6.1-4"],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("name", ["same", "misordered"])
def test_create_again(bench, name):
    """CREATE_SESSION has a slot of its own (RFC 8881 18.36.4). Its retry creates no second session,
    and a misordered sequence ID creates none."""
    client, first = create(bench)
    expect(first, "RFC8881-2.10.6.1-4", must=[kinds.REPLY])
    made = granted(first)
    number = made.csr_sequence if name == "same" else (made.csr_sequence + 2) & 0xFFFFFFFF
    client.conn.abort()  # a retry is legal only after its connection broke (RFC 8881 2.9.2)
    conn = bench.connect()
    again = conn.exchange(client.create_session_call(conn, sequence=number))
    if name == "misordered":
        expect(again, "RFC8881-2.10.6.1-4", must=[status("NFS4ERR_SEQ_MISORDERED")])
        return
    expect(again, "RFC8881-2.10.6.1-4", must=[kinds.REPLY])
    same = granted(again).csr_sessionid == made.csr_sessionid
    expect.true(same, "RFC8881-2.10.6.1-4", "a retry gives the same session", outcome=again)


@case(
    "server.nfs4.session.empty-sends-{count}",
    requirements=["RFC8166-4.5-1"],
    needs=["nfs41"],
    hostile=True,
)
@pytest.mark.parametrize("count", [1, 8])
def test_empty_sends(bench, count):
    """Sends without an octet, which RFC 8881 uses to return credits, do no harm."""
    session = bench.nfs4_session()
    if session.conn.window <= count:
        bench.not_testable("the server has fewer receives than the case sends messages")
    for _ in range(count):
        session.conn.send(b"")
    expect(session.exchange("PUTROOTFH"), "RFC8166-4.5-1", must=[kinds.REPLY])


@case(
    "server.nfs4.session.transport-error-{slot}",
    requirements=["RFC8267-6.6-3", IN_CHUNK],
    needs=["nfs41"],
    hostile=True,
)
@pytest.mark.parametrize("slot", [0, 3])
def test_transport_error(bench, slot):
    """ERR_CHUNK for a request leaves the session usable, in that slot and in others. By SEQUENCE
    the client finds the next sequence ID."""
    session, handle = with_file(bench, bytes(4096))
    call = session.call(*read_operations(handle, (0, 4096)), slot=slot)
    session.conn.write_chunk(call, 4)
    refused = session.conn.exchange(call)
    if refused.kind == kinds.REPLY:
        reduced = items(refused, call)[0].reduced
        expect.true(reduced, IN_CHUNK, "the result is in the chunk that was provided for it")
        bench.not_testable("READ returns as few octets as fit the chunk")
    expect(
        refused,
        "RFC8267-6.6-3",
        must=[*OVERRUN, *kinds.CLOSED],
        latitude=at_nfs_level(refused),
    )
    conn = session.conn if session.conn.open else bench.connect()
    number = session.sequences[slot]
    for each in (number + 1, number):
        outcome = session.exchange("PUTROOTFH", conn=conn, slot=slot, number=each)
        if outcome.kind == kinds.REPLY:
            return
    expect(outcome, "RFC8267-6.6-3", must=[kinds.REPLY])


def at_nfs_level(outcome):
    """{kind: why} of any NFS error."""
    return {outcome.kind: "an error at NFS level"} if outcome.kind.startswith("nfs:") else {}

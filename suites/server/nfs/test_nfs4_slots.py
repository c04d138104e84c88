"""Slots of a session: sequence IDs, highest slots, errors (RFC 8881 2.10.6.1, 18.46)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import fore_channel, putfh, write
from ..nfs4_checks import status, with_file
from .retry_checks import is_in_order

MISORDERED = "RFC8881-2.10.6.1-2"
EXECUTED = "RFC8881-2.10.6.1-4"
FIRST = "RFC8881-18.36.3-15"
LOST = "RFC8881-2.10.13.1.4-1"
UNCHANGED = "RFC8881-18.46.3-2"
HIGHEST = "RFC8881-15.1.11.3-1"
BESIDE_CREDITS = "RFC8881-2.10.3.1-2"
# Credits that the client requests, and so the most that the server grants.
MOST_CREDITS = 128
# Ends and middle of a session ID.
SESSION_OCTETS = (0, 7, 8, 15)
STEPS = {"plus-2": 2, "plus-3": 3, "plus-1000": 1000, "minus-1": -1, "minus-2": -2}
NOT_ONE = {"two": 2, "zero": 0, "largest": 0xFFFFFFFF, "sign": 0x80000000}


@case(
    "server.nfs4.slot.echo-{slot}",
    requirements=["RFC8881-18.46.3-3", "RFC8881-2.10.6.1-5"],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("slot", ["first", "second", "last"])
def test_echo(bench, slot):
    """SEQUENCE returns session, slot and sequence ID. The highest slot is not below the slot of the
    request."""
    session = bench.nfs4_session()
    number = {"first": 0, "second": 1, "last": session.slots - 1}[slot]
    before = session.sequences.get(number, 0)
    for sequence in range(before + 1, before + 4):
        outcome = session.exchange("PUTROOTFH", slot=number, highest=number)
        expect(outcome, "RFC8881-18.46.3-3", must=[kinds.REPLY])
        ok = outcome.result["SEQUENCE"].resok4
        seen = (ok.sr_sessionid, ok.sr_slotid, ok.sr_sequenceid)
        expect.equal(
            seen,
            (session.id, number, sequence),
            "RFC8881-18.46.3-3",
            "session, slot and sequence ID",
            show=False,
            outcome=outcome,
        )
        expect.at_least(
            ok.sr_highest_slotid, number, "RFC8881-2.10.6.1-5", "sr_highest_slotid", outcome
        )


@case(
    "server.nfs4.slot.first-{name}",
    requirements=[FIRST, UNCHANGED],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", NOT_ONE)
def test_first_misordered(bench, name):
    """The first sequence ID of a slot is 1. The error does not change the slot."""
    session = bench.nfs4_session()
    slot = session.unused_slot()
    outcome = session.exchange("PUTROOTFH", slot=slot, number=NOT_ONE[name])
    expect(outcome, FIRST, must=[status("NFS4ERR_SEQ_MISORDERED")])
    expect(session.exchange("PUTROOTFH", slot=slot, number=1), UNCHANGED, must=[kinds.REPLY])


@case(
    "server.nfs4.slot.step-{name}",
    requirements=[MISORDERED, UNCHANGED],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", STEPS)
def test_step(bench, name):
    """A sequence ID that is neither the last nor the next one gets NFS4ERR_SEQ_MISORDERED."""
    session = bench.nfs4_session()
    for _ in range(4):
        session.run("PUTROOTFH", slot=1)
    wrong = (session.sequences[1] + STEPS[name]) & 0xFFFFFFFF
    outcome = session.exchange("PUTROOTFH", slot=1, number=wrong)
    expect(outcome, MISORDERED, must=[status("NFS4ERR_SEQ_MISORDERED")])
    expect(session.exchange("PUTROOTFH", slot=1), UNCHANGED, must=[kinds.REPLY])


ERRORS = {
    "bad-slot": ("RFC8881-15.1.11.2-1", "NFS4ERR_BADSLOT"),
    "largest-slot": ("RFC8881-15.1.11.2-1", "NFS4ERR_BADSLOT"),
    "second-sequence": ("RFC8881-18.46.3-4", "NFS4ERR_SEQUENCE_POS"),
    "no-sequence": ("RFC8881-18.46.3-4", "NFS4ERR_OP_NOT_IN_SESSION"),
    "unknown-session": (LOST, "NFS4ERR_BADSESSION"),
}


@case(
    "server.nfs4.slot.session-octet-{octet}",
    requirements=[LOST, UNCHANGED],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("octet", SESSION_OCTETS)
def test_near_session(bench, octet):
    """A session ID that differs in one octet from one that the server has given is unknown."""
    session = bench.nfs4_session()
    other = bytearray(session.id)
    other[octet] ^= 0x5A
    number = session.sequences.get(0, 0) + 1
    outcome = session.exchange("PUTROOTFH", number=number, session_id=bytes(other))
    expect(outcome, LOST, must=[status("NFS4ERR_BADSESSION")])
    expect(session.exchange("PUTROOTFH"), UNCHANGED, must=[kinds.REPLY])


@case(
    "server.nfs4.slot.error-{name}",
    requirements=sorted({each for each, _ in ERRORS.values()} | {UNCHANGED}),
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", ERRORS)
def test_error(bench, name):
    """Each fault of SEQUENCE has its own status, and changes no slot."""
    session = bench.nfs4_session()
    conn = session.conn
    unused = session.unused_slot() if name == "second-sequence" else None
    following = session.sequences.get(0, 0) + 1
    other = bytes(each ^ 0xA5 for each in session.id)
    calls = {
        "bad-slot": lambda: session.call("PUTROOTFH", slot=session.slots, number=1, beyond=True),
        "largest-slot": lambda: session.call("PUTROOTFH", slot=0xFFFFFFFF, number=1, beyond=True),
        "second-sequence": lambda: session.call(session.sequence(slot=unused, number=1)),
        "no-sequence": lambda: conn.compound_call("PUTROOTFH"),
        "unknown-session": lambda: session.call("PUTROOTFH", number=following, session_id=other),
    }
    requirement_id, wanted = ERRORS[name]
    # A request for a missing slot also names too high a highest slot (RFC 8881 15.1.11.3).
    also = {status("NFS4ERR_BAD_HIGH_SLOT"): "the highest slot is looked at first"}
    latitude = also if wanted == "NFS4ERR_BADSLOT" else None
    outcome = conn.exchange(calls[name]())
    expect(outcome, requirement_id, must=[status(wanted)], latitude=latitude)
    # The first SEQUENCE in slot 0, if any, was executed. The faulty one changed no slot.
    expect(session.exchange("PUTROOTFH"), UNCHANGED, must=[kinds.REPLY])
    if unused is not None:
        expect(session.exchange("PUTROOTFH", slot=unused, number=1), UNCHANGED, must=[kinds.REPLY])


# A request above a limit of the fore channel: f(session, handle), with the row and the status of its refusal. A
# session that grants more than MOST_TRIED operations cannot be shown its limit.
MOST_TRIED, FEW_OPERATIONS, FEW_OCTETS = 64, 6, 8192
LIMITS = {
    "operations": (
        lambda session, handle: ["PUTROOTFH"] * session.fore.ca_maxoperations,
        "RFC8881-18.36.3-8",
        "NFS4ERR_TOO_MANY_OPS",
    ),
    "request": (
        lambda session, handle: [putfh(handle), write(bytes(session.fore.ca_maxrequestsize))],
        "RFC8881-2.10.6.4-1",
        "NFS4ERR_REQ_TOO_BIG",
    ),
}


@case(
    "server.nfs4.slot.limit-{name}",
    requirements=sorted({row for _, row, _ in LIMITS.values()} | {UNCHANGED, EXECUTED}),
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("name", LIMITS)
def test_limit(bench, name):
    """A request above a limit of the session is refused, by SEQUENCE or by a later operation (RFC 8881 2.10.6.4). The
    error of SEQUENCE does not move the slot, that of a later one does. The next request in it is executed.
    """
    attrs = fore_channel(ca_maxoperations=FEW_OPERATIONS, ca_maxrequestsize=FEW_OCTETS)
    session, handle = with_file(bench, b"", csa_fore_chan_attrs=attrs)
    if session.fore.ca_maxoperations > MOST_TRIED:
        bench.not_testable("the server grants more operations than the case has")
    make, row, error = LIMITS[name]
    slot = session.unused_slot()
    call = session.call(*make(session, handle), slot=slot, number=1)
    session.conn.carry_arguments(call)
    refused = expect(session.conn.exchange(call), row, must=[status(error)])
    moved = is_in_order(refused)
    again = session.exchange("PUTROOTFH", slot=slot, number=2 if moved else 1)
    expect(again, EXECUTED if moved else UNCHANGED, must=[kinds.REPLY])


@case("server.nfs4.slot.highest-{name}", requirements=[HIGHEST], needs=["nfs41"], over=ANY)
@pytest.mark.parametrize("name", ["own", "next", "last"])
def test_highest(bench, name):
    """Any slot of the session may be the highest in use."""
    session = bench.nfs4_session()
    highest = {"own": 0, "next": 1, "last": session.slots - 1}[name]
    outcome = session.exchange("PUTROOTFH", highest=min(highest, session.slots - 1))
    expect(outcome, HIGHEST, must=[kinds.REPLY])


WRONG_HIGHEST = {
    "below": lambda session: 0,  # the requester has to name its own slot or a higher one (2.10.6.1)
    "beyond": lambda session: session.slots,
    "largest": lambda session: 0xFFFFFFFF,
}


@case(
    "server.nfs4.slot.wrong-highest-{name}",
    requirements=[HIGHEST, UNCHANGED],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", WRONG_HIGHEST)
def test_wrong_highest(bench, name):
    """The highest slot is below the request's own, or the session lacks it. The server may refuse
    it, without a change of the slot, or accept it."""
    session = bench.nfs4_session()
    wrong = WRONG_HIGHEST[name](session)
    slot = session.unused_slot()
    outcome = session.exchange("PUTROOTFH", slot=slot, number=1, highest=wrong)
    legal = {kinds.REPLY: "the highest slot is only a hint to the replier"}
    if name == "below":
        legal[status("NFS4ERR_BADSLOT")] = "the slot is above what the requester calls the highest"
    expect(outcome, HIGHEST, must=[status("NFS4ERR_BAD_HIGH_SLOT")], latitude=legal)
    following = 2 if outcome.kind == kinds.REPLY else 1
    expect(
        session.exchange("PUTROOTFH", slot=slot, number=following), UNCHANGED, must=[kinds.REPLY]
    )


@case("server.nfs4.slot.beside-credits", requirements=[BESIDE_CREDITS], needs=["nfs41", "tcp"])
def test_beside_credits(bench):
    """Requests use all credits of the RDMA connection, each in its own slot. A connection over TCP
    shares the channel. There is one more slot for it, and its request is answered. The client asks
    for that many slots. A server that gives fewer has to grant fewer credits."""
    conn, tcp = bench.connect(credits=MOST_CREDITS, receives=MOST_CREDITS), bench.connect_tcp()
    credits = conn.window
    slots = fore_channel(ca_maxrequests=credits + 1)
    session = bench.nfs4_session(conn, csa_fore_chan_attrs=slots)
    bound = session.bind(tcp)
    if bound.kind != kinds.REPLY:
        bench.not_testable(f"a connection over TCP cannot share the channel: {bound.kind}")
    # The current grant: a server may lower it when it knows of both connections.
    credits = min(credits, conn.window)
    more = session.slots > credits
    expect.true(more, BESIDE_CREDITS, "a shared channel has more slots than RDMA credits")
    if not more:
        return
    calls = [session.call("PUTROOTFH", slot=slot, highest=credits) for slot in range(credits)]
    for call in calls:
        conn.send(call)
    conn.work()
    beside = session.exchange("PUTROOTFH", conn=tcp, slot=credits)
    expect(beside, BESIDE_CREDITS, should=[kinds.REPLY])
    for outcome in conn.collect_sent(calls).values():
        expect(outcome, BESIDE_CREDITS, should=[kinds.REPLY])

"""Where in a client's use of the server a case bends something, messages that many cases share, and what
every client may do."""

from steertag import wire
from steertag.suite import client_kinds as kinds, expect
from steertag.suite.client.script import is_plain, is_read, is_write

# By the kind of call that is answered.
PLACES = {"plain": is_plain, "read": is_read, "write": is_write}

LOST = "its connection was lost, and it takes that for the end"
GIVES_UP = "it takes a lost connection for the end, and tells its user"
STARVES = "each message that it does not wait for costs it the connection"
# An octet of which no source has 64 in a row.
SPOILER = b"\xee"
EVIDENCE_OCTETS = 64

READ_BYTES = 32768
_NAMES_SHAPE = wire.Draft(
    xid=0x5EED0001,
    credit=32,
    payload=b"\x5e" * 40,
    write_list=[
        wire.DraftChunk(
            segments=[wire.Segment(handle=0x7E570001, length=READ_BYTES, offset=1 << 33)]
        )
    ],
)


def word(octets, at):
    """The 32-bit word at this octet."""
    return int.from_bytes(octets[at : at + 4], "big")


def words(*values):
    """The octets of some 32-bit words."""
    return b"".join(value.to_bytes(4, "big") for value in values)


def read_reply_shape():
    """A draft with the lists that the reply to a READ with one segment has: variants of it have the
    names of those of a real one."""
    return wire.draft_of(wire.encode(_NAMES_SHAPE))


def denial(reply):
    """A draft of the reply in which RPC denies the call: a client that takes it fails the call."""
    draft = reply.draft()
    # RFC 5531 9: REPLY, MSG_DENIED, AUTH_ERROR, AUTH_FAILED.
    draft.payload = draft.payload[:4] + words(1, 1, 1, 7)
    return draft


def then_conform(make):
    """A bend that sends what `make(draft)` leaves of a reply that would fail the call, and behind it the
    reply as it should be: only a client that discards the first completes with the second."""

    def bend(reply):
        draft = denial(reply)
        made = make(draft)
        reply.send(draft if made is None else made)
        reply.conform()

    return bend


def completes(outcome, requirement_id):
    """The client completes although a message came that no call waits for. That one may have met no
    receive (RFC 8881 2.9.2: there is typically one for each request), which ends the connection; then a
    client may give up."""
    latitude = {kinds.REFUSED: LOST} if outcome.may_have_starved() else None
    expect(outcome, requirement_id, must=[kinds.COMPLETED], latitude=latitude)


def expect_or(bench, outcome, requirement_id, kind, others, ours=None):
    """The client's use ends in this kind or in one of `others`, {kind: why it is legal}. Where the documents
    let a client choose, a case sees of it whether harm was done, and no more. Of our own client it is known
    what it does, `ours` or else the first, and nothing else passes."""
    if bench.client.ours:
        expect(outcome, requirement_id, must=[ours or kind])
    else:
        expect(outcome, requirement_id, must=[kind], latitude=others)


def completes_unless_starved(bench, outcome, requirement_id, refused=None):
    """The client completes, or has lost a connection for want of a receive, and is still trying when the use
    ends: how long it waits behind such a loss no document says. It may be refused for the reason
    `refused`."""
    # Where nobody tells why a connection ended, another one shows that one did.
    starved = outcome.starved() or outcome.may_have_starved() and len(outcome.connections) > 1
    if outcome.kind == kinds.HANG and starved:
        expect(outcome, requirement_id, must=[kinds.COMPLETED], latitude={kinds.HANG: STARVES})
    elif refused is not None:
        expect_or(bench, outcome, requirement_id, kinds.COMPLETED, {kinds.REFUSED: refused})
    else:
        completes(outcome, requirement_id)


def speaks_nfs3(bench):
    """Whether the client's calls are those of NFSv3 and MOUNT, whose results our client reads to their end."""
    return "client-nfs3" in bench.habits.has


def survives(bench, outcome, requirement_id):
    """The client completes although a connection was lost: its calls are made again on another (RFC 8166
    4.5.5). No document says for how many losses, and others may tell their user at the first; ours goes on.
    """
    expect_or(bench, outcome, requirement_id, kinds.COMPLETED, {kinds.REFUSED: GIVES_UP})


def patience(bench, why="it goes on trying, as hard mounts do"):
    """Latitude where nothing that a client does gets through. No document makes it give up, and RFC 8881
    2.9.2 has it wait while there is a session; our own client says that it gives up."""
    return {} if bench.client.ours else {kinds.HANG: why}


def shows_end(answered, later):
    """Whether a later call could only be made by a client whose user, or session, has had the answer to the
    call of `answered`: it uses the slot again (RFC 8881 2.10.6.2: not before the reply), or brings the
    octets that a READ has brought. Then the call's memory has to be closed (RFC 8166 4.4.1)."""
    first, second = answered.sequence, later.sequence
    if first is not None and first.same_slot(second) and first.number != second.number:
        return True
    data = b"".join(bytes(write.octets) for write in answered.writes)[:EVIDENCE_OCTETS]
    return len(data) == EVIDENCE_OCTETS and data in bytes(later.rpc_call)

"""The kinds of calls whose replies the cases change, and messages that many cases share."""

from steertag import peer, wire
from steertag.suite.client.script import is_plain, is_read, is_write

# By name, for ids of cases.
CALL_KINDS = {"plain": is_plain, "read": is_read, "write": is_write}

# No source has 64 of this octet in a row.
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
    """A draft with the lists of the reply to a READ with one segment. Its variants have the names of those
    of a real reply."""
    return wire.draft_of(wire.encode(_NAMES_SHAPE))


def denial(reply, *mutations):
    """A draft of the reply in which RPC denies the call, after further mutations. A client that takes it fails
    the call."""
    return reply.mutated("rpc-reply.denied", *mutations)


def spoilt(writes):
    """The same RDMA Writes with octets that no source has."""
    return [peer.RemoteWrite(each.stag, each.offset, SPOILER * len(each.octets)) for each in writes]


def brought(reply):
    """Octets that the call brings in its first read chunk."""
    entry = next(each for each in reply.call.read_list if each.position)
    return bytes(reply.rpc_call)[entry.position : entry.position + entry.target.length]


def moved(reply):
    """All octets that a call, and the reply to it, have moved."""
    return b"".join([bytes(reply.rpc_call), *(bytes(write.octets) for write in reply.writes)])


def deny_then_conform(*mutations):
    """A function for `bench.use(reply=...)`: sends a denial after these mutations, then the reply as it should
    be. Only a client that discards the first completes with the second."""

    def interpose(reply):
        reply.send(denial(reply, *mutations))
        reply.conform()

    return interpose


def shows_end(answered, later):
    """Whether a later call proves that the user, or the session, has the answer to the call of `answered`.

    Such a call uses the slot again (RFC 8881 2.10.6.2: not before the reply), or brings the octets of the
    READ. Then the memory of the answered call has to be closed (RFC 8166 4.4.1).
    """
    first, second = answered.sequence, later.sequence
    if first is not None and first.same_slot(second) and first.number != second.number:
        return True
    data = b"".join(bytes(write.octets) for write in answered.writes)[:EVIDENCE_OCTETS]
    return len(data) == EVIDENCE_OCTETS and data in bytes(later.rpc_call)

"""The calls that cases on malformed headers start from, and their variants (steertag.mutate)."""

import dataclasses

from steertag import mutate, wire

CONTENT = bytes(range(1, 201))
REPLACEMENT = bytes(range(255, 55, -1))
# Octets of the two segments of each chunk.
SIZES = [64, 136]
REPLY_SIZES = [256, 256]
# Octets of the RPC message of a NULL call with AUTH_NONE.
NULL_OCTETS = 40


class Base:
    """One legal call on a connection of its own. A case may damage `call`. `unchanged` says whether
    the call's file still has its first content."""

    def __init__(self, bench, kind):
        self.bench = bench
        self.handle = bench.file(CONTENT) if kind in ("read", "write") else None
        self.conn = bench.connect()
        self.call = _MAKERS[kind](self.conn, self.handle)

    def mutated(self, group, name):
        """The call with the named mutation applied. Its memory stays registered."""
        draft = next(
            each.draft for each in mutate.generate(group, self.call) if plain(each.name) == name
        )
        for field in dataclasses.fields(wire.Draft):
            setattr(self.call, field.name, getattr(draft, field.name))
        return self.call

    def unchanged(self):
        """Whether the file has its first content. True for a call without a file."""
        return self.handle is None or self.bench.read_back(self.handle) == CONTENT


def null(conn, _handle):
    """NULL without chunks."""
    return conn.null_call()


def read(conn, handle):
    """READ with one write chunk of two segments."""
    call = conn.nfs_call("READ", file=handle, offset=0, count=len(CONTENT))
    conn.write_chunk(call, sizes=SIZES)
    return call


def write(conn, handle):
    """WRITE with a read chunk of two segments."""
    call = conn.nfs_call(
        "WRITE", file=handle, offset=0, count=len(REPLACEMENT), stable=2, data=REPLACEMENT
    )
    conn.reduce(call, SIZES)
    return call


def long(conn, _handle):
    """NULL as RDMA_NOMSG, with a position-zero chunk and a reply chunk of two segments."""
    call = conn.null_call()
    conn.reply_chunk(call, sizes=REPLY_SIZES)
    conn.long_call(call)
    return call


_MAKERS = {"null": null, "read": read, "write": write, "long": long}
KINDS = tuple(_MAKERS)


def plain(name):
    """The variant's name as it appears in a case id."""
    return name.replace("_", "-")


def variants(kind, *groups):
    """[(group, name, the message, hint at the answer)] of a kind of call.

    Names depend only on the shape of the call, so they are known before there is a target."""
    shape = _shape(kind)
    return [
        (group, plain(each.name), bytes(each), each.expectation)
        for group in groups
        for each in mutate.generate(group, shape)
    ]


def only_goes_on(octets):
    """Whether the only fault of a message is octets behind the lists of RDMA_NOMSG. Some receivers
    do not look there and treat the message as legal."""
    try:
        wire.decode(octets)
    except wire.DecodeError as fault:
        return fault.code == "trailing_bytes"
    return False


def _segment(number, length):
    # Handles and offsets are no presence words, as in real memory.
    return wire.Segment(handle=0x7E570000 + number, length=length, offset=number << 33)


def _shape(kind):
    draft = wire.Draft(xid=0x5EED0001, credit=32, payload=b"\x5e" * 40)
    sizes = list(enumerate(SIZES, 1))
    if kind == "read":
        draft.write_list = [wire.DraftChunk(segments=[_segment(i, size) for i, size in sizes])]
    elif kind == "write":
        # Only mutations use the position: any multiple of four above the RPC header will do.
        draft.read_list = [_read_entry(128, i, size) for i, size in sizes]
    elif kind == "long":
        draft.proc, draft.payload = wire.Procedure.NOMSG, b""
        draft.read_list = [_read_entry(0, 3, NULL_OCTETS)]
        segments = [_segment(i, size) for i, size in enumerate(REPLY_SIZES, 4)]
        draft.reply_chunk = wire.DraftChunk(segments=segments)
    return draft


def _read_entry(position, number, length):
    target = _segment(number, length)
    return wire.DraftReadEntry(segment=wire.ReadSegment(position=position, target=target))

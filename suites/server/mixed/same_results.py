"""Compares two replies to one call, without what time or other clients change."""

import dataclasses

from steertag import nfs
from steertag.suite import expect, kinds

SAME = "RFC8166-1-1"
# The offset of atime in fattr3 (RFC 1813 2.6). Reading itself changes atime.
ATIME = slice(60, 68)
# FSSTAT, from the end of the reply (RFC 1813 3.3.18): fbytes and abytes, ffiles and afiles. Other
# activity of the server changes them.
FREE_BYTES, FREE_FILES = slice(-44, -28), slice(-20, -4)
# FSINFO, from the end of the reply (RFC 1813 3.3.19): rtmax to dtpref. They may depend on the
# transport.
TRANSFER_SIZES = slice(-48, -20)
# The deepest nesting of structs. Results of NFS version 3 are no deeper.
MOST_DEPTH = 8


def attributes_in(value, depth=0):
    """Every fattr3 in a decoded result."""
    if isinstance(value, nfs.nfs3.Fattr):
        return [value]
    if depth == MOST_DEPTH:
        return []
    if isinstance(value, (list, tuple)):
        parts = value
    elif dataclasses.is_dataclass(value):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    else:
        return []
    return [found for part in parts for found in attributes_in(part, depth + 1)]


def blanked(octets, where):
    """The octets, with zeros in one place."""
    start, end, _ = where.indices(len(octets))
    return octets[:start] + bytes(end - start) + octets[end:]


def comparable(outcome, call):
    """The RPC reply behind its XID, without what time changes."""
    octets = outcome.whole[4:]
    for found in attributes_in(outcome.result):
        encoded = found.encode()
        octets = octets.replace(encoded, blanked(encoded, ATIME))
    if call.procedure == nfs.nfs3.Procedure.FSSTAT and outcome.kind == kinds.REPLY:
        octets = blanked(blanked(octets, FREE_BYTES), FREE_FILES)
    return octets


def expect_same(bench, over_rdma, over_tcp, call):
    """Both replies are equal, octet for octet."""
    expect(over_rdma, SAME, must=[over_tcp.kind])
    answered = over_tcp.kind not in kinds.BROKEN
    expect.true(answered, SAME, "the call over TCP has a reply to compare with", outcome=over_tcp)
    one, other = comparable(over_rdma, call), comparable(over_tcp, call)
    if call.procedure == nfs.nfs3.Procedure.FSINFO and one != other:
        one, other = blanked(one, TRANSFER_SIZES), blanked(other, TRANSFER_SIZES)
        if one == other:
            bench.latitude(SAME, "FSINFO offers other transfer sizes over TCP (RFC 1813 3.3.19)")
    expect.data(one, other, SAME, "reply over RDMA against that over TCP", outcome=over_rdma)

"""Data that are placed by the XID of their reply (docs/direct-access.md)."""

import pytest

from steertag import rpc
from steertag.nfs import nfs3
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_bench import SOURCE_BYTES
from steertag.suite.client.script import Script
from steertag.suite.client.session_watch import rpc_reply_of
from steertag.suite.nfs_client.compound import read_compound
from ..call_kinds import SPOILER, words
from ..client_verdicts import expect_or
from ..direct_server import reads_of

OWN_XID, WHOLE = "ODAFS-39", "ODAFS-40"
# What a reply with the data of a READ fits into.
LARGE_INLINE = {"inline_bytes": 65536}
AGAIN = "it did the same by another call"
_USE_OCTETS = 64
LEFT_OCTETS = 128  # of data that the number in front of them leaves out


def data_of(reply):
    """The data in a reply to one READ, if they are inline, and not the last of the file; else b""."""
    if reply.kind != "reply" or reply.writes:
        return b""
    reads = reads_of(reply)
    if len(reads) != 1 or sum(reads[0]) >= SOURCE_BYTES:
        return b""
    _, body = rpc.Reply.decode(rpc_reply_of(reply))
    if reply.procedure[1] == 3:
        return bytes(nfs3.decode_result("READ", body).ok.data)
    return bytes(read_compound(body)["READ"].resok4.data)


def has_data(reply):
    """A reply to a READ that ends with its data."""
    return bool(data_of(reply))


class Exchange(Script):
    """Replies to READs leave in pairs, the later one first."""

    def __init__(self):
        self._held = None
        self.waits = True  # no pair so far

    def on_departure(self, reply):
        held = self._held
        if held is None:
            self._held = reply if has_data(reply) else None
            return self._held is not None
        self._held = None
        if reply.kind == "reply":
            self.waits = self.waits and not has_data(reply)
        reply.conform()
        held.conform()
        return True

    def on_quiet(self):
        held, self._held = self._held, None
        if held is not None:
            held.conform_late()


@case("client.direct.placed-exchanged", requirements=[OWN_XID], hostile=True)
def test_exchanged(bench):
    """Replies to READs come in another order than their calls: each user gets its own octets."""
    outcome = bench.use(Exchange(), server=LARGE_INLINE, transfer="pre-posted")
    expect(outcome, OWN_XID, must=[kinds.COMPLETED])


def _spoilt(message):
    """The message with other data at its end."""
    return message[:-_USE_OCTETS] + SPOILER * _USE_OCTETS


def _xid_of_no_call(message):
    """For a call that was not made: the XID is in both headers."""
    xid = message[:4]
    return _spoilt(message).replace(xid, bytes(octet ^ 0xFF for octet in xid))


DISCARDED = {
    "other-xid": (OWN_XID, _xid_of_no_call),
    "version-two": (
        WHOLE,
        lambda message: message[:4] + bytes([0, 0, 0, 2]) + _spoilt(message)[8:],
    ),
    "procedure-done": (
        WHOLE,
        lambda message: message[:12] + bytes([0, 0, 0, 3]) + _spoilt(message)[16:],
    ),
}


@case(
    "client.direct.placed-{name}",
    requirements=[OWN_XID, WHOLE],
    hostile=True,
    unfailed={
        f"client.direct.placed-{name}": "The next reply fills the same buffer."
        for name in DISCARDED
    },
)
@pytest.mark.parametrize("name", DISCARDED)
def test_discarded(bench, name):
    """In front of the reply to a READ comes a message with other data, which has to be discarded."""
    requirement, bend = DISCARDED[name]

    def interpose(reply):
        reply.send(bend(bytes(reply.message)))
        reply.conform()

    outcome = bench.use(reply=interpose, when=has_data, server=LARGE_INLINE, transfer="pre-posted")
    expect(outcome, requirement, must=[kinds.COMPLETED])


def _less(message, octets):
    """The number of octets of data says less than there are."""
    at = len(message) - octets - 4
    return message[:at] + words(octets - LEFT_OCTETS) + message[at + 4 :]


# Name: what becomes of a message that ends with so many octets: the data and their roundup.
BAD = {
    "cut-word": lambda message, octets: message[:-4],
    "cut-half": lambda message, octets: message[: -octets // 2],
    "cut-all": lambda message, octets: message[:-octets],
}
# Of these a client may take what is right.
ODD = {
    "word-behind": lambda message, octets: message + SPOILER * 4,
    "number-less": _less,
}


@case(
    "client.direct.placed-bad.{name}",
    requirements=[WHOLE],
    hostile=True,
    unfailed={"client.direct.placed-bad.cut-all": "A Send that is all head has no data to place."},
)
@pytest.mark.parametrize("name", BAD)
def test_bad(bench, name):
    """The reply to a READ has only the start of its data."""
    outcome = _use_bent(bench, BAD[name])
    expect_or(bench, outcome, WHOLE, kinds.REFUSED, {kinds.COMPLETED: AGAIN})


@case(
    "client.direct.placed-odd.{name}",
    requirements=[WHOLE],
    hostile=True,
    unfailed={
        f"client.direct.placed-odd.{name}": "The octets behind the data go nowhere." for name in ODD
    },
)
@pytest.mark.parametrize("name", ODD)
def test_odd(bench, name):
    """The reply to a READ has octets behind its data."""
    outcome = _use_bent(bench, ODD[name])
    expect(outcome, WHOLE, must=[kinds.COMPLETED, kinds.REFUSED])


def _use_bent(bench, bend):
    def interpose(reply):
        octets = -(-len(data_of(reply)) // 4) * 4
        reply.send(bend(bytes(reply.message), octets))

    return bench.use(reply=interpose, when=has_data, server=LARGE_INLINE, transfer="pre-posted")

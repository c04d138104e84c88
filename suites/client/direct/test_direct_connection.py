"""The end of optimistic connections, and servers that refuse them."""

import collections
import itertools

import pytest

from steertag import rpc
from steertag.nfs import direct, nfs4
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.session_watch import conform_with, rpc_reply_of
from ..direct_server import (
    BLOCK,
    BOUNDED,
    DirectServer,
    expect_copied,
    need_references,
    OWED,
    use_direct,
)

NO_DIFFERENCE = "ODAFS-41"
# Reads that a client has in flight. The server ends the connection at each of them.
IN_FLIGHT = 16
HELLO_INTERVAL_S = 1.0
MOST_ENDS = 3  # in a minute
STATUSES = {
    "notsupp": nfs4.Status.NFS4ERR_NOTSUPP,
    "delay": nfs4.Status.NFS4ERR_DELAY,
    "inval": nfs4.Status.NFS4ERR_INVAL,
    "stale-clientid": nfs4.Status.NFS4ERR_STALE_CLIENTID,
}


class Fault:
    """Bends the STag of the reference with this number, from 1; with `every` that of each reply."""

    def __init__(self, number, every=False):
        self._number, self._every = number, every
        self.done = False

    def __call__(self, references, _):
        if self.done or len(references) < self._number:
            return references
        self.done = not self._every
        references[self._number - 1].stag ^= 1
        return references


@case("client.direct.fault-at-{number}", requirements=OWED, hostile=True)
@pytest.mark.parametrize("number", range(1, IN_FLIGHT + 1))
def test_fault(bench, number):
    """The Read with this number of those in flight is refused, which ends the connection with all that follow it."""
    script = DirectServer(references=Fault(number))
    outcome = use_direct(bench, script)
    expect_copied(bench, script, outcome)
    need_references(bench, script)


@case("client.direct.fault-at-each-end", requirements=[BOUNDED, *OWED], hostile=True)
def test_every_end(bench):
    """Each reply has a reference that ends the connection. HELLO comes at most once a second, and three times in a
    minute."""
    script = DirectServer(references=Fault(1, every=True))
    outcome = use_direct(bench, script)
    expect_bounded(script, outcome)
    expect_copied(bench, script, outcome)


@case("client.direct.ended", requirements=[BOUNDED, *OWED], hostile=True)
def test_ended(bench):
    """The server ends the connection when it has granted references, before a Read comes."""
    script = DirectServer(granted=lambda server: server.end_optimistic())
    outcome = use_direct(bench, script)
    expect_bounded(script, outcome)
    expect_copied(bench, script, outcome)


@case("client.direct.ended-amid-reads", requirements=[BOUNDED, *OWED], hostile=True)
def test_ended_amid_reads(bench):
    """Block 8 has no reference. The server ends the connection when it has read that block for the client, which
    reads others meanwhile."""
    replies = itertools.count()

    def granted(server):
        if next(replies):
            server.end_optimistic()

    script = DirectServer(references=lambda found, _: found[:8] + found[9:], granted=granted)
    outcome = use_direct(bench, script)
    expect_bounded(script, outcome)
    expect_copied(bench, script, outcome)
    need_references(bench, script)


@case("client.direct.rejected", requirements=[BOUNDED, *OWED], hostile=True)
def test_rejected(bench):
    """The server rejects each optimistic connection. All is read by RPC."""
    script = DirectServer(rejects=True)
    outcome = use_direct(bench, script)
    expect_bounded(script, outcome)
    expect_copied(bench, script, outcome)


def expect_bounded(script, outcome):
    """HELLOs of one run of a client are as far apart as they have to be. The server's time between two is no less
    than the client's, which waits for the end that the first one has led to."""
    runs = collections.defaultdict(list)
    for verifier, moment in script.hellos:
        runs[verifier].append(moment)
    for moments in runs.values():
        pauses = [later - before for before, later in itertools.pairwise(moments)]
        soon = sum(pause < HELLO_INTERVAL_S for pause in pauses)
        expect.equal(soon, 0, BOUNDED, "HELLOs within a second of the one before", outcome=outcome)
        what = "HELLOs of a use that is shorter than a minute"
        expect.at_most(len(moments), MOST_ENDS, BOUNDED, what, outcome=outcome)


def _result(reply, result):
    """Posts a reply to HELLO with these results."""
    conform_with(reply, _header(reply) + direct.encode_result("HELLO", result))


def _header(reply):
    octets = bytes(rpc_reply_of(reply))
    return octets[: len(octets) - len(rpc.Reply.decode(octets)[1])]


def _terms(**fields):
    """A function for `hello=` that replaces these fields of a reply."""

    def hello(reply):
        _, body = rpc.Reply.decode(bytes(rpc_reply_of(reply)))
        result = direct.decode_result("HELLO", body)
        for name, value in fields.items():
            setattr(result.resok4, name, value)
        _result(reply, result)

    return hello


TERMS = {
    "ticket-other": _terms(ticket=bytes(16)),
    "block-zero": _terms(block_bytes=0),
    "block-one": _terms(block_bytes=1),
    "block-largest": _terms(block_bytes=(1 << 32) - 1),
    "form-two": _terms(frame_form=2),
    "lease-zero": _terms(lease_seconds=0),
    "lease-largest": _terms(lease_seconds=(1 << 32) - 1),
    "references-zero": _terms(most_references=0),
    "netid-tcp": _terms(netid="tcp"),
    "address-bad": _terms(address="nowhere"),
}


# With these the connection opens all the same, and no Read fails.
USABLE = ("lease-zero", "lease-largest", "references-zero", "netid-tcp", "address-bad")


@case(
    "client.direct.hello-{name}",
    requirements=[BOUNDED, *OWED],
    hostile=True,
    unfailed={f"client.direct.hello-{name}": "No Read fails." for name in USABLE},
)
@pytest.mark.parametrize("name", TERMS)
def test_terms(bench, name):
    """The reply to HELLO has terms that are of no use, or unusual ones."""
    script = DirectServer(hello=TERMS[name])
    outcome = use_direct(bench, script)
    expect_bounded(script, outcome)
    expect_copied(bench, script, outcome)


@case("client.direct.hello-refused-{name}", requirements=[BOUNDED, *OWED])
@pytest.mark.parametrize("name", STATUSES)
def test_refused(bench, name):
    """HELLO is answered with an error. All is read by NFS."""

    def hello(reply):
        conform_with(reply, _header(reply) + int(STATUSES[name]).to_bytes(4, "big"))

    script = DirectServer(hello=hello)
    outcome = use_direct(bench, script)
    expect_bounded(script, outcome)
    expect_copied(bench, script, outcome)


@case("client.direct.hello-cut", requirements=[BOUNDED, *OWED], hostile=True)
def test_cut(bench):
    """The results of HELLO end before the ticket does."""
    script = DirectServer(hello=lambda reply: conform_with(reply, _header(reply) + bytes(12)))
    outcome = use_direct(bench, script)
    expect_bounded(script, outcome)
    expect_copied(bench, script, outcome)


@case("client.direct.no-program", requirements=[NO_DIFFERENCE])
def test_no_program(bench):
    """The server lacks the program. A client that asks for it reads by NFS."""
    script = DirectServer()
    outcome = bench.use(script, transfer="optimistic")
    expect(outcome, NO_DIFFERENCE, must=[kinds.COMPLETED])


@case(
    "client.direct.not-asked",
    requirements=[NO_DIFFERENCE],
    unfailed={"client.direct.not-asked": "Ours has no direct access then, and no deviation of it."},
)
def test_not_asked(bench):
    """The server has the program. A client that is not asked to use it does the same as ever."""
    script = DirectServer()
    outcome = bench.use(script, server={"direct_block": BLOCK})
    expect(outcome, NO_DIFFERENCE, must=[kinds.COMPLETED])

"""What a client begins a new client ID and a new session with, once the server has forgotten it.

RFC 8881 2.10.6.1, 18.51.3."""

from steertag.suite import case, client_kinds as kinds, expect
from ..restarted_server import RestartedServer

COMPLETE, FIRST = "RFC8881-18.51.3-1", "RFC8881-2.10.6.1-1"
NEEDS = ["client-nfs4.1"]
# Claims by which OPEN takes back what a client had before (RFC 8881 18.16).
RECLAIMS = {"CLAIM_PREVIOUS", "CLAIM_DELEGATE_PREV", "CLAIM_DELEG_PREV_FH"}


def _forgotten(bench):
    """(script, outcome) of a client that comes back as another one."""
    script = RestartedServer()
    outcome = bench.use(script)
    if script.known_at is None:
        bench.not_testable("the client does not come back as another client")
    return script, outcome


def _obtains_lock(call):
    """Whether it has an OPEN or LOCK that reclaims nothing."""
    opens = "OPEN" in call and call["OPEN"].claim.claim.name not in RECLAIMS
    return opens or ("LOCK" in call and not call["LOCK"].reclaim)


@case("client.session.reclaim-complete", requirements=[COMPLETE], needs=NEEDS)
def test_reclaim_complete(bench):
    """The server forgets the client at its first READ. Behind each EXCHANGE_ID with another client ID comes
    RECLAIM_COMPLETE, before the first OPEN that is no reclaim."""
    script, outcome = _forgotten(bench)
    opened = 0
    for begin, end in ((0, script.forgot_at), (script.known_at, 1 << 62)):
        of_client = [call for call in script.calls if begin < call.at < end]
        first = next((call.at for call in of_client if _obtains_lock(call)), None)
        if first is None:
            continue
        opened += 1
        completed = [
            call
            for call in of_client
            if "RECLAIM_COMPLETE" in call and not call["RECLAIM_COMPLETE"].rca_one_fs
        ]
        is_first = bool(completed) and completed[0].at <= first
        what = "RECLAIM_COMPLETE comes before the first OPEN of a client ID"
        expect.true(is_first, COMPLETE, what, outcome=outcome)
    expect(outcome, COMPLETE, must=[kinds.COMPLETED])
    if opened < 2:
        bench.not_testable("the client opens nothing under its second client ID")


@case("client.session.sequence-ids-again", requirements=[FIRST], needs=NEEDS)
def test_sequence_ids_again(bench):
    """The same: each slot of the new session begins with the sequence id 1, whatever the slots of the old one had."""
    script, outcome = _forgotten(bench)
    seen = {}  # {(session, slot): sa_sequenceid of its first request}
    for call in script.calls:
        if call.server is None and "SEQUENCE" in call:
            sequence = call["SEQUENCE"]
            slot = bytes(sequence.sa_sessionid), sequence.sa_slotid
            seen.setdefault(slot, sequence.sa_sequenceid)
    what = "sequence id of a slot's first request"
    for number in seen.values():
        expect.equal(number, 1, FIRST, what, outcome=outcome)
    expect(outcome, FIRST, must=[kinds.COMPLETED])

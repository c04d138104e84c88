"""Replies whose verifier is AUTH_SHORT, with octets that may stand in later credentials (RFC 5531 appendix A)."""

import pytest

from steertag import rpc, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import Script
from ..call_kinds import word, words

TAKEN, SAME_OCTETS = "RFC5531-A-2", "RFC5531-A-3"
SYS, SHORT = int(rpc.AuthFlavor.AUTH_SYS), int(rpc.AuthFlavor.AUTH_SHORT)
CREDENTIAL_AT = 24  # in a call: XID, type, version, program, version, procedure
VERIFIER_AT = 12  # in a reply: XID, type, whether it is accepted
PLAIN_VERIFIER = words(0, 0)  # AUTH_NONE without octets
ACCEPTED = words(1, 0) + PLAIN_VERIFIER
# Octets of the verifier: none, some that need roundup, and the most that there can be (RFC 5531 8.2).
LENGTHS = {"empty": 0, "odd": 13, "longest": 400}


def _credential(call):
    """(flavour, octets with the flavour and length, body) of the call's credential."""
    length = word(call, CREDENTIAL_AT + 4)
    end = CREDENTIAL_AT + 8 + length + -length % 4
    return word(call, CREDENTIAL_AT), call[CREDENTIAL_AT:end], call[CREDENTIAL_AT + 8 :][:length]


class ShortVerifiers(Script):
    """Each reply to AUTH_SYS has a verifier of AUTH_SHORT, if it fits. A call with these octets counts as one with the
    credential that they stand for."""

    def __init__(self, length):
        self._body = bytes(1 + at % 255 for at in range(length))
        self._original = None  # the credential that they stand for, with its flavour and length
        self.given = False
        self.others = 0  # calls with AUTH_SHORT and other octets

    @property
    def waits(self):
        return not self.given

    def on_call(self, conn, call):
        flavour, credential, body = _credential(bytes(call))
        if flavour == SYS:
            self._original = credential
        if flavour != SHORT:
            return None
        if not self.given or body != self._body:
            self.others += 1
            return None
        end = CREDENTIAL_AT + len(credential)
        return bytes(call[:CREDENTIAL_AT]) + self._original + bytes(call[end:])

    def on_departure(self, reply):
        draft = self._with_verifier(reply) if reply.kind == "reply" else None
        if draft is None or len(wire.encode(draft)) > reply.raw.thresholds.to_client_bytes:
            return False
        self.given = True
        reply.push()
        reply.send(draft, invalidate=reply.invalidate)
        return True

    def _with_verifier(self, reply):
        """A draft of the reply; None of one that has no verifier, or another one."""
        if _credential(bytes(reply.rpc_call))[0] not in (SYS, SHORT):
            return None
        draft = reply.draft()
        payload = bytes(draft.payload)
        if payload[4 : 4 + len(ACCEPTED)] != ACCEPTED:
            return None
        verifier = words(SHORT, len(self._body)) + self._body + bytes(-len(self._body) % 4)
        end = VERIFIER_AT + len(PLAIN_VERIFIER)
        draft.payload = payload[:VERIFIER_AT] + verifier + payload[end:]
        return draft


@pytest.mark.parametrize("name", LENGTHS)
@case("client.rpc.short-verifier.{name}", requirements=[TAKEN, SAME_OCTETS])
def test_short_verifier(bench, name):
    """Replies to AUTH_SYS have verifiers of AUTH_SHORT. The client works as with those of AUTH_NONE. It may send the
    octets back as its credential, and then no others. Ours sends AUTH_SYS only here."""
    script = ShortVerifiers(LENGTHS[name])
    outcome = bench.use(script, own=["--auth-sys"])
    what = "calls with AUTH_SHORT and other octets than the server gave"
    expect.equal(script.others, 0, SAME_OCTETS, what, outcome=outcome)
    expect(outcome, TAKEN, must=[kinds.COMPLETED])

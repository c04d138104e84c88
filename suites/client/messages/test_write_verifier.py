"""What the verifiers of WRITE and COMMIT say (RFC 1813 3.3.21, RFC 8881 18.32.3).

A server that may have lost octets has another verifier. The client writes again what was not on stable storage."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import Script
from ..call_kinds import word
from .file_change import bent_reply, change_of, END3, UNSTABLE, VERIFIER_OCTETS

REWRITES3, REWRITES4 = "RFC1813-3.3.21-1", "RFC8881-18.32.3-2"
# The octet of the verifier that is another one.
OCTETS = {"first-octet": 0, "last-octet": VERIFIER_OCTETS - 1}


def _requirement(change):
    return REWRITES3 if change.version == 3 else REWRITES4


class OtherVerifier(Script):
    """The first reply to an operation of this `name` has a verifier with another octet, at this place."""

    def __init__(self, name, octet):
        self._name, self._octet = name, octet
        self.changes = []
        self.changed = None  # the Change
        self.lost = []  # unstable WRITEs that this verifier may have lost
        self.later = []  # WRITEs that have come since

    def _flip(self, verifier):
        octets = bytearray(verifier)
        octets[self._octet] ^= 0xFF
        return bytes(octets)

    def on_call(self, conn, call):
        change = change_of(call)
        if change is None:
            return
        self.changes.append(change)
        if self.changed is not None and change.name == "WRITE":
            self.later.append(change)

    def _bend3(self, change, reply):
        committed_at = len(reply) - END3[change.name] + 4
        change.unstable = change.name == "WRITE" and word(reply, committed_at) == UNSTABLE
        return reply[:-VERIFIER_OCTETS] + self._flip(reply[-VERIFIER_OCTETS:])

    def _bend4(self, change, ok):
        change.unstable = change.name == "WRITE" and int(ok.committed) == UNSTABLE
        ok.writeverf = self._flip(bytes(ok.writeverf))

    def on_reply(self, conn, call, reply):
        change = next((each for each in reversed(self.changes) if each.xid == word(call, 0)), None)
        if change is None:
            return None
        octets = bent_reply(
            change,
            reply,
            lambda whole: self._bend3(change, whole),
            lambda ok: self._bend4(change, ok),
        )
        if octets is None:
            return None
        wanted = change.name == self._name and (change.unstable or change.name == "COMMIT")
        if self.changed is not None or not wanted:
            return None
        self.changed = change
        self.lost = [each for each in self.changes if each.unstable]
        return octets


@pytest.mark.parametrize("octet", OCTETS)
@pytest.mark.parametrize("name", ["write", "commit"])
@case("client.write-verifier.{name}-{octet}", requirements=[REWRITES3, REWRITES4])
def test_write_verifier(bench, name, octet):
    """One octet of a verifier is another one: in the reply to a COMMIT, or to the first WRITE. What the
    server may have lost is written again."""
    script = OtherVerifier(name.upper(), OCTETS[octet])
    outcome = bench.use(script)
    if script.changed is None or not script.lost:
        bench.not_testable("the client asks for stable WRITEs only")
    again = [
        any(each.covers(lost.offset) for each in script.later) for lost in script.lost if lost.count
    ]
    what = "what was written under another verifier is written again"
    expect.true(all(again), _requirement(script.changed), what, outcome=outcome)
    expect(outcome, _requirement(script.changed), must=[kinds.COMPLETED])

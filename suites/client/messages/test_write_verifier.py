"""What the verifiers of WRITE and COMMIT say (RFC 1813 3.3.21, RFC 8881 18.32.3).

A server that may have lost octets has another verifier. The client writes again what was not on stable storage."""

import dataclasses

import pytest

from steertag import nfs, rpc, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import NFS, operations_of, procedure_of, Script
from steertag.suite.nfs_client.compound import read_compound
from ..call_kinds import word

NFS4 = nfs.nfs4
REWRITES3, REWRITES4 = "RFC1813-3.3.21-1", "RFC8881-18.32.3-2"
# Procedures of version 3 (RFC 1813 3.3), and their octets behind the last attributes: count, committed, verf; verf.
NAMES3 = {7: "WRITE", 21: "COMMIT"}
END3 = {"WRITE": 16, "COMMIT": 8}
VERIFIER_OCTETS = 8
UNSTABLE = 0
# The octet of the verifier that is another one.
OCTETS = {"first-octet": 0, "last-octet": VERIFIER_OCTETS - 1}


@dataclasses.dataclass
class Change:
    """WRITE or COMMIT of one file, in either version."""

    name: str
    xid: int
    offset: int
    count: int
    requirement: str
    unstable: bool = False  # the server has taken it without making it stable

    def covers(self, offset):
        return self.offset <= offset < self.offset + self.count


def _change3(call):
    name = NAMES3.get(procedure_of(call)[2])
    if name is None:
        return None
    arguments = rpc.Call.decode(call)[1]
    where = 4 + -(-word(arguments, 0) // 4) * 4
    offset = int.from_bytes(arguments[where : where + 8], "big")
    return Change(name, word(call, 0), offset, word(arguments, where + 8), REWRITES3)


def _change4(call):
    for number, arguments in operations_of(call):
        if number.name == "WRITE":
            count = len(arguments.data)
            return Change("WRITE", word(call, 0), arguments.offset, count, REWRITES4)
        if number.name == "COMMIT":
            return Change("COMMIT", word(call, 0), arguments.offset, 0, REWRITES4)
    return None


def _bent3(change, reply, flip):
    """(octets of the reply with another verifier, whether the octets are unstable); None of a failure."""
    body = rpc.Reply.decode(reply)[1]
    if word(body, 0) != 0:
        return None
    committed_at = len(reply) - END3[change.name] + 4
    unstable = change.name == "WRITE" and word(reply, committed_at) == UNSTABLE
    return reply[:-VERIFIER_OCTETS] + flip(reply[-VERIFIER_OCTETS:]), unstable


def _bent4(change, reply, flip):
    body = rpc.Reply.decode(reply)[1]
    found = read_compound(body)
    if change.name not in found or int(found[change.name].status) != 0:
        return None
    ok = found[change.name].resok4
    unstable = change.name == "WRITE" and int(ok.committed) == UNSTABLE
    ok.writeverf = flip(bytes(ok.writeverf))
    octets = NFS4.encode_result(found.results, tag=found.tag)
    return reply[: len(reply) - len(body)] + octets, unstable


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
        procedure = procedure_of(call)
        if procedure is None or procedure[0] != NFS:
            return
        try:
            read = _change3 if procedure[1] == 3 else _change4
            change = read(call)
        except (wire.DecodeError, IndexError):
            return
        if change is None:
            return
        self.changes.append(change)
        if self.changed is not None and change.name == "WRITE":
            self.later.append(change)

    def on_reply(self, conn, call, reply):
        change = next((each for each in reversed(self.changes) if each.xid == word(call, 0)), None)
        if change is None:
            return None
        bend = _bent3 if change.requirement == REWRITES3 else _bent4
        try:
            bent = bend(change, bytes(reply), self._flip)
        except wire.DecodeError:
            return None
        if bent is None:
            return None
        octets, change.unstable = bent
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
    expect.true(all(again), script.changed.requirement, what, outcome=outcome)
    expect(outcome, script.changed.requirement, must=[kinds.COMPLETED])

"""WRITE and COMMIT of one file, in either version of NFS (RFC 1813 3.3.7, 3.3.21; RFC 8881 18.32, 18.3)."""

import dataclasses

from steertag import nfs, rpc, wire
from steertag.suite.client.script import NFS, operations_of, procedure_of
from steertag.suite.nfs_client.compound import read_compound
from ..call_kinds import word

NFS4 = nfs.nfs4
# Procedures of version 3 (RFC 1813 3.3), and their octets behind the last attributes: count, committed, verf; verf.
NAMES3 = {7: "WRITE", 21: "COMMIT"}
END3 = {"WRITE": 16, "COMMIT": 8}
VERIFIER_OCTETS = 8
UNSTABLE = 0


@dataclasses.dataclass
class Change:
    """WRITE or COMMIT of one file, in either version."""

    name: str
    xid: int
    offset: int
    count: int
    version: int
    unstable: bool = False  # the server has taken it without making it stable

    def covers(self, offset):
        return self.offset <= offset < self.offset + self.count


def change_of(call):
    """The Change that an RPC call asks for; None of any other."""
    procedure = procedure_of(call)
    if procedure is None or procedure[0] != NFS:
        return None
    try:
        return (_change3 if procedure[1] == 3 else _change4)(call)
    except (wire.DecodeError, IndexError):
        return None


def _change3(call):
    name = NAMES3.get(procedure_of(call)[2])
    if name is None:
        return None
    arguments = rpc.Call.decode(call)[1]
    where = 4 + -(-word(arguments, 0) // 4) * 4
    offset = int.from_bytes(arguments[where : where + 8], "big")
    return Change(name, word(call, 0), offset, word(arguments, where + 8), 3)


def _change4(call):
    for number, arguments in operations_of(call):
        if number.name == "WRITE":
            count = len(arguments.data)
            return Change("WRITE", word(call, 0), arguments.offset, count, 4)
        if number.name == "COMMIT":
            return Change("COMMIT", word(call, 0), arguments.offset, 0, 4)
    return None


def bent_reply(change, reply, bend3, bend4):
    """The octets of a reply to the change, bent in its version; None of a failure, or of what does not decode.

    `bend3` makes other octets of the whole reply, `bend4` changes the result of the operation.
    """
    try:
        body = rpc.Reply.decode(reply)[1]
        return (_bent3 if change.version == 3 else _bent4)(
            change, bytes(reply), body, bend3 if change.version == 3 else bend4
        )
    except wire.DecodeError:
        return None


def _bent3(_change, reply, body, bend):
    return bend(reply) if word(body, 0) == 0 else None


def _bent4(change, reply, body, bend):
    found = read_compound(body)
    if change.name not in found or int(found[change.name].status) != 0:
        return None
    bend(found[change.name].resok4)
    octets = NFS4.encode_result(found.results, tag=found.tag)
    return reply[: len(reply) - len(body)] + octets

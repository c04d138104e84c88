"""A server with direct access (docs/direct-access.md), and what it does otherwise than the reference server."""

import time

from steertag import rpc
from steertag.nfs import direct, nfs3
from steertag.suite import client_kinds as kinds, expect
from steertag.suite.client.script import NFS, operations_of, Script
from steertag.suite.client.session_watch import conform_with, rpc_reply_of

BELIEVES, FALLS_BACK, DELIVERS_NOTHING = "ODAFS-15", "ODAFS-16", "ODAFS-17"
ANSWERS_LOST, ENDS_ALONE, BOUNDED = "ODAFS-18", "ODAFS-19", "ODAFS-20"
# What each case owes whose client cannot read by references, or not by all of them.
OWED = [FALLS_BACK, DELIVERS_NOTHING, ANSWERS_LOST, ENDS_ALONE]
# The source has 41 blocks, more than a client has Reads in flight.
BLOCK = 4096
# Of a result with references: their number is behind change and size, and behind eof and the data of READ.
_REFS_AT, _READ_DATA_AT = 20, 24
REFERENCE_OCTETS = 32
_UNUSED = (
    "needs direct access: the server has the program, and the client read the file without HELLO"
)
_HELLO, _REFS, _READ = (int(direct.Procedure[name]) for name in ("HELLO", "REFS", "READ"))


class DirectServer(Script):
    """Each is called, if it is given:

    hello(reply)                       for each reply to HELLO, and posts what it wants instead.
    references([nfs.direct.Reference], reply)
                                       for the references of each reply. They are replaced by its result: a
                                       list, or octets that do not decode.
    frame(frame, generation)           for each frame that is granted; it is replaced by its result.
    granted(server)                    before a reply with references leaves, with the peer.ScriptedServer.
    """

    def __init__(self, hello=None, references=None, frame=None, granted=None, rejects=False):
        self.hellos = []  # (verifier of the client's run, time.monotonic()) of each call
        self.granted = 0  # references in replies
        self.reads = []  # (offset, octets) of READs, of either program, that have succeeded
        self.optimistic = []  # client_connection.OptimisticConnection
        self._hello, self._references, self._frame = hello, references, frame
        self._on_granted, self._rejects = granted, rejects
        self._bent = set()  # (STag, generation) of frames

    @property
    def frame_reads(self):
        """[STag] of the RDMA Reads that came."""
        return [stag for conn in self.optimistic for stag in conn.reads]

    @property
    def read_twice(self):
        """Octets of the file that RPCs have read more than once."""
        end = twice = 0
        for offset, octets in sorted(self.reads):
            twice += max(0, min(end, offset + octets) - offset)
            end = max(end, offset + octets)
        return twice

    def on_optimistic(self, conn, step):
        self.optimistic.append(conn)
        step.rejects = self._rejects

    def on_departure(self, reply):
        if reply.kind != "reply" or reply.procedure is None:
            return False
        program, _, procedure = reply.procedure
        if program == direct.PROGRAM and procedure == _HELLO:
            self._note_hello(reply)
            if self._hello:
                self._hello(reply)
            return bool(self._hello)
        reads = reads_of(reply)
        octets = bytes(rpc_reply_of(reply))
        at = references_at(reply, octets) if program == direct.PROGRAM else None
        made = None if at is None else self._bend(decode_references(octets[at:]), reply)
        if not isinstance(made, bytes):
            self.reads += reads
        if made is None:
            return False
        conform_with(reply, octets[:at] + (made if isinstance(made, bytes) else encoded(made)))
        return True

    def _note_hello(self, reply):
        _, arguments = rpc.Call.decode(reply.rpc_call)
        verifier = bytes(direct.decode_args("HELLO", arguments).verifier)
        self.hellos.append((verifier, time.monotonic()))

    def _bend(self, found, reply):
        """What the reply is to have in place of these references; None: the same."""
        self.granted += len(found)
        self._bend_frames(found)
        if self._on_granted and found:
            self._on_granted(self.bench.server)
        return self._references(found, reply) if self._references else None

    def _bend_frames(self, references):
        if self._frame is None:
            return
        for each in references:
            if (each.stag, each.generation) in self._bent:
                continue  # the grant was renewed
            self._bent.add((each.stag, each.generation))
            frame = self.bench.server.frame(each.stag)
            self.bench.server.set_frame(each.stag, self._frame(frame, each.generation))


def references_at(reply, octets):
    """Where the references of a reply to REFS or READ begin, with their number; None of an error, or another
    procedure."""
    _, body = rpc.Reply.decode(octets)
    if reply.procedure[2] not in (_REFS, _READ) or int.from_bytes(body[:4], "big") != 0:
        return None
    at = len(octets) - len(body) + _REFS_AT
    if reply.procedure[2] == _READ:
        at += 4
        in_chunk = any(sum(each.length for each in chunk) for chunk in reply.header.write_list)
        data = int.from_bytes(octets[at : at + 4], "big")
        at += 4 + (0 if in_chunk else -(-data // 4) * 4)
    return at


def encoded(references):
    """A list of references, with their number."""
    return b"".join([len(references).to_bytes(4, "big"), *(each.encode() for each in references)])


def decode_references(octets):
    """The references behind their number."""
    number = int.from_bytes(octets[:4], "big")
    places = range(4, 4 + REFERENCE_OCTETS * number, REFERENCE_OCTETS)
    return [direct.Reference.decode(octets[at : at + REFERENCE_OCTETS]) for at in places]


def reads_of(reply):
    """[(offset, octets)] of the READs that the call asks for and the reply answers with octets."""
    program, version, procedure = reply.procedure
    _, arguments = rpc.Call.decode(reply.rpc_call)
    _, body = rpc.Reply.decode(rpc_reply_of(reply))
    if int.from_bytes(body[:4], "big") != 0:
        return []
    if (program, procedure) == (direct.PROGRAM, _READ):
        asked = [direct.decode_args("READ", arguments)]
    elif (program, version, procedure) == (NFS, 3, int(nfs3.Procedure.READ)):
        asked = [nfs3.decode_args("READ", arguments)]
    else:
        asked = [args for number, args in operations_of(reply.rpc_call) if number.name == "READ"]
    return [(each.offset, each.count) for each in asked]


def use_direct(bench, script, own=(), block=BLOCK):
    """The outcome of a client that is asked to read optimistically, in blocks of so many octets. One that completes
    and never says HELLO has no such reads."""
    outcome = bench.use(script, server={"direct_block": block}, own=own, transfer="optimistic")
    if outcome.kind in kinds.DONE and not script.hellos and script.reads:
        bench.unsupported(_UNUSED)
    return outcome


def expect_copied(bench, script, outcome, wrong=DELIVERS_NOTHING):
    """The copy is the source, each octet was asked for by one RPC at most, and nothing but the optimistic
    connection has ended. `wrong` is what a wrong copy breaks."""
    broken = {kinds.CORRUPTED: wrong, kinds.HANG: ANSWERS_LOST, kinds.LEFT: ENDS_ALONE}
    expect(outcome, broken.get(outcome.kind, FALLS_BACK), must=[kinds.COMPLETED])
    what = "octets that the client asked for by two RPCs"
    expect.equal(script.read_twice, 0, FALLS_BACK, what, outcome=outcome)
    used = sum(bool(conn.calls) for conn in outcome.connections)
    usual = bench.habits.connections or used
    expect.at_most(used, usual, ENDS_ALONE, "connections with RPCs", outcome=outcome)


def need_references(bench, script):
    """Ends the case unless references went to the client."""
    if not script.granted:
        bench.not_testable("the client asks for no references")

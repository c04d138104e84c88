"""Requests that the server puts off: the client makes them again, as new ones (RFC 1813 2.6, RFC 8881 15.1.1.3)."""

import pytest

from steertag import nfs, rpc
from steertag.suite import ANY, case, client_kinds as kinds, expect
from steertag.suite.client.script import NFS, procedure_of, Script
from steertag.suite.nfs_client.compound import read_compound
from ..call_kinds import word, words
from ..client_verdicts import expect_or
from ..pnfs.striped_server import StripedServer
from ..short_read import TRY_LATER

NFS4 = nfs.nfs4
UNDER_NEW_XID, IN_NEW_SEQUENCE = "RFC1813-2.6-1", "RFC8881-15.1.1.3-1"
# Of our own client, which uses version 4.1 otherwise.
OWN = ["--nfs", "3"]
# Procedures of version 3, and the words of their results behind NFS3ERR_JUKEBOX: no attributes.
PROCEDURES = {
    "getattr": (1, 0),
    "lookup": (3, 1),
    "read": (6, 1),
    "write": (7, 2),
    "commit": (21, 2),
}
OPERATIONS = ("lookup", "read", "write", "commit")
REPLY_HEAD = 24  # XID, type, whether it is accepted, an empty verifier, whether it is executed
NEVER = "it does not try again what fails for now"


class PutOff(Script):
    """The first reply to this procedure of version 3 says NFS3ERR_JUKEBOX."""

    def __init__(self, name):
        self._number, self._zeros = PROCEDURES[name]
        self.refused = None  # the call
        self.again = None  # the one that asks for the same

    @property
    def waits(self):
        return self.refused is None

    def on_call(self, conn, call):
        if self.refused is None or self.again is not None:
            return
        if procedure_of(call) == (NFS, 3, self._number):
            same = rpc.Call.decode(call)[1] == rpc.Call.decode(self.refused)[1]
            self.again = bytes(call) if same else None

    def on_reply(self, conn, call, reply):
        if self.refused is not None or procedure_of(call) != (NFS, 3, self._number):
            return None
        self.refused = bytes(call)
        return bytes(reply[:REPLY_HEAD]) + words(TRY_LATER, *[0] * self._zeros)


@pytest.mark.parametrize("name", PROCEDURES)
@case("client.put-off.version-3.{name}", requirements=[UNDER_NEW_XID], over=ANY)
def test_version_3(bench, name):
    """One call gets NFS3ERR_JUKEBOX. The client makes it again, under another XID: under the same one it is a copy of
    the first, which has had its reply."""
    if not bench.client.ours:
        bench.need("client-nfs3")
    script = PutOff(name)
    outcome = bench.use(script, own=OWN)
    if script.again is not None:
        another = word(script.again, 0) != word(script.refused, 0)
        what = "the call that is made again has another XID"
        expect.true(another, UNDER_NEW_XID, what, outcome=outcome)
    _goes_on(bench, outcome, UNDER_NEW_XID, script.again is not None)


class PutOff4(StripedServer):
    """The first result of this operation is NFS4ERR_DELAY."""

    def __init__(self, name):
        super().__init__(results={name: self._put_off})
        self._name = name
        self.refused = None  # the Call

    @property
    def waits(self):
        return self.refused is None

    def _put_off(self, call, result):
        if self.refused is not None or call.names[0] != "SEQUENCE":
            return None
        self.refused = call
        return type(result)(status=NFS4.Status.NFS4ERR_DELAY)

    @property
    def again(self):
        """The next request that asks for the same of the same file, in whatever slot; None if there is none."""
        asked = _asked(self.refused, self._name)
        later = (each for each in self.of(self._name) if each.at > self.refused.answered_at)
        return next((each for each in later if _asked(each, self._name) == asked), None)


def _asked(call, name):
    return call.handle, bytes(call[name].encode())


def _place(call):
    sequence = call["SEQUENCE"]
    return bytes(sequence.sa_sessionid), sequence.sa_slotid, sequence.sa_sequenceid


@pytest.mark.parametrize("name", OPERATIONS)
@case("client.put-off.version-4.{name}", requirements=[IN_NEW_SEQUENCE], needs=["client-nfs4.1"])
def test_version_4(bench, name):
    """One operation behind SEQUENCE gets NFS4ERR_DELAY. The request is made again in another slot, or under another
    sequence id. Otherwise it would get the first reply again, from the reply cache."""
    script = PutOff4(name.upper())
    outcome = bench.use(script)
    again = script.again
    if again is not None:
        what = "the request that is made again has another slot or sequence id"
        another = _place(again) != _place(script.refused)
        expect.true(another, IN_NEW_SEQUENCE, what, outcome=outcome)
    _goes_on(bench, outcome, IN_NEW_SEQUENCE, again is not None)


class Unexecuted(PutOff4):
    """The same, but the operation is not executed: the server sees the request only up to there. With `creates` it is an
    OPEN that makes a file."""

    def __init__(self, name, creates=False):
        super().__init__(name)
        self._creates = creates

    def _put_off(self, _call, _result):
        return None

    def _is_wanted(self, call):
        if self.refused is not None or call.server is not None or self._name not in call:
            return False
        made = NFS4.OpenType.OPEN4_CREATE
        creates = self._name == "OPEN" and call["OPEN"].openhow.opentype == made
        return call.names[0] == "SEQUENCE" and creates == self._creates

    def on_call(self, conn, call):
        before = len(self.calls)
        changed = super().on_call(conn, call)
        for made in self.calls[before:]:
            if self._is_wanted(made):
                self.refused = made
                arguments = rpc.Call.decode(call)[1]
                fixed, _ = NFS4.decode_args(arguments)
                executed = made.operations[: made.names.index(self._name)]
                return call[: len(call) - len(arguments)] + NFS4.encode_args(executed, fixed)
        return changed

    def on_reply(self, conn, call, reply):
        found = super().on_reply(conn, call, reply)
        refused = self.refused
        if refused is None or (refused.conn, refused.xid) != (conn, word(call, 0)):
            return found
        body = bytes(rpc.Reply.decode(reply)[1])
        if word(body, 0) != 0:
            return found
        # status, tag, the number of results.
        count_at = 8 + -(-word(body, 4) // 4) * 4
        number, count = int(NFS4.Opnum[self._name]), word(body, count_at) + 1
        head = words(TRY_LATER) + body[4:count_at] + words(count)
        results = head + body[count_at + 4 :] + words(number, TRY_LATER)
        refused.reply = read_compound(results)
        return bytes(reply[: len(reply) - len(body)]) + results


@pytest.mark.parametrize("name", ["open", "create", "close"])
@case(
    "client.put-off.version-4.stateful-{name}",
    requirements=[IN_NEW_SEQUENCE],
    needs=["client-nfs4.1"],
)
def test_stateful(bench, name):
    """The same of an OPEN, which makes a file or does not, and of a CLOSE. The file is opened and closed all the
    same."""
    operation = "CLOSE" if name == "close" else "OPEN"
    script = Unexecuted(operation, creates=name == "create")
    outcome = bench.use(script)
    if script.refused is None:
        bench.not_testable("the client sends no such operation")
    again = script.again
    if again is not None:
        what = "the request that is made again has another slot or sequence id"
        another = _place(again) != _place(script.refused)
        expect.true(another, IN_NEW_SEQUENCE, what, outcome=outcome)
    elif bench.client.ours:
        expect.true(False, IN_NEW_SEQUENCE, "the request is made again", outcome=outcome)
    _goes_on(bench, outcome, IN_NEW_SEQUENCE, again is not None)


def _goes_on(bench, outcome, requirement_id, is_made_again):
    """The client completes. Where it has not made the request again it has found another way."""
    expect_or(bench, outcome, requirement_id, kinds.COMPLETED, {kinds.REFUSED: NEVER})
    if outcome.kind in kinds.DONE and not is_made_again:
        bench.latitude(requirement_id, "it does without what fails for now")

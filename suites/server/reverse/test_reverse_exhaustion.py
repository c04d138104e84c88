"""More answers to callbacks on one connection than a server has receives (RFC 8167 4.3.2)."""

import pytest

from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import putfh
from ..message_words import in_a_row
from ..nfs4_checks import NFS4, READ, WANT_READ, WRITE
from ..reverse_checks import ENDS, error_for, reply_with_chunk

RUNS_LAST = "Linux grants fewer delegations for half a minute after each recall."
RECEIVES = "RFC8167-4.3.2-1"
# Recalls whose answers a server has survived in any case: what ends its connection later is want of a receive.
PROOFS = 2
# If so many files after each other are not delegated, the server delegates no more for now.
MOST_FILES = 8
# The server calls back no more over the connection until it is bound again.
ANY_DOWN = NFS4.SEQ4_STATUS_CB_PATH_DOWN | NFS4.SEQ4_STATUS_CB_PATH_DOWN_SESSION
# Octets of a reply that is cut: it ends in its verifier.
CUT_OCTETS = 14


class Recalls:
    """Delegations that are recalled one after the other, over one connection. The file is the same again and again if
    the server delegates it again, else a new one each time. Where the path is down it is bound again.
    """

    def __init__(self, bench):
        self._bench = bench
        self.session = bench.nfs4_session(back=True)
        self._directory = bench.nfs4_files(self.session).directory
        self._other = bench.nfs4_session()
        self._name = self._opened = self._handle = None
        self._new = True  # each file is a new one
        self._conflict = None  # the OPEN of the other client

    @property
    def conn(self):
        return self.session.conn

    def next(self):
        """The next recall; None if the server delegates nothing, or recalls nothing in time."""
        if self.session.status_flags & ANY_DOWN:
            self.session.bind(self.conn, NFS4.ChannelDirFromClient.CDFC4_BACK_OR_BOTH)
        if not self._delegate():
            return None
        opening = self._other.open_operation(self._name, WRITE, b"writer")
        self._conflict = self._other.call(putfh(self._directory), opening, "GETFH")
        self._other.conn.send(self._conflict)
        return self.conn.callbacks.wait()

    def _delegate(self):
        first = self._name is None
        if not self._new and self._open():
            return True
        for _ in range(MOST_FILES):
            self._name = self._bench.name("delegated")
            self._bench.file(name=self._name)
            if self._open():
                self._new = not first
                return True
        return False

    def _open(self):
        """Whether the server delegates the file."""
        access = READ | WANT_READ
        self._opened, self._handle = self.session.open(self._directory, self._name, access)
        kind = self._opened.delegation.delegation_type
        return kind == NFS4.DelegationType.OPEN_DELEGATE_READ

    def give_back(self):
        """The Outcome of DELEGRETURN. Then the other client has its file no more either."""
        stateid = self._opened.delegation.read.stateid
        returned = self.session.return_delegation(self._handle, stateid)
        outcome = self._other.conn.await_outcome(self._conflict)
        self._other.note(outcome)
        self._other.take_back(outcome)
        if outcome.kind == kinds.REPLY:
            self._other.close(self._handle, outcome.result["OPEN"].resok4.stateid)
        return returned


def cut(callback):
    """The legal reply without its end."""
    draft = callback.among.reply_to(callback)
    draft.payload = bytes(draft.payload)[:CUT_OCTETS]
    return draft


# What precedes the good answer.
SPOILT = {"good": None, "error": error_for, "chunks": reply_with_chunk, "cut": cut}


@case(
    "server.reverse-exhaustion.{name}",
    requirements=[RECEIVES],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", SPOILT)
def test_answers(bench, name):
    """Delegations are recalled and returned one after the other, until there were more answers than the server has
    receives. Each recall gets its answer. Before that comes an RDMA_ERROR, a reply with a chunk, a reply that is cut,
    or nothing. A full window of calls is answered at the end."""
    recalls = Recalls(bench)
    conn = recalls.conn
    wanted = in_a_row(conn)
    # A spoilt answer costs a receive, and the good one behind it another.
    rounds = wanted if SPOILT[name] is None else wanted // 2
    done = 0
    while done < rounds and conn.open:
        callback = recalls.next()
        if callback is None:
            break
        if SPOILT[name] is not None:
            conn.send(SPOILT[name](callback))
        conn.callbacks.answer(callback)
        outcome = recalls.give_back()
        done += 1
        latitude = ENDS if SPOILT[name] is not None and done <= PROOFS else {}
        expect(outcome, RECEIVES, must=[kinds.REPLY], latitude=latitude)
    if not conn.open:
        return
    for outcome in conn.collect([conn.null_call() for _ in range(conn.window)]).values():
        expect(outcome, RECEIVES, must=[kinds.REPLY])
    if done < rounds:
        bench.not_testable("the server recalls fewer delegations in a row than the case needs")

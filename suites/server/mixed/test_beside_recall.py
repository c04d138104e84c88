"""Each kind of message while a recall waits for its answer, and each wrong answer to one, in each environment.

`steertag coverage --pairs` lists the pairs."""

import pytest

from steertag.suite import case, expect, kinds
from steertag.suite.cases.environments import ENVIRONMENTS
from steertag.suite.nfs_client.nfs4_client import getattr_of, in_time, putfh, write
from ..chunk_checks import expect_returned, read_call, RETURNED
from ..invalidation_checks import expect_own, OWN, PLAIN
from ..message_words import CHUNK_SHAPE, expect_err_chunk
from ..nfs4_checks import expect_content, expect_reads, NFS4, read_operations
from ..reply_chunk_checks import expect_any_form, LONG_REPLY
from ..reverse_checks import ENDS, error_for, Recall, reply_with_chunk, REVOKED
from .trial import ANSWERED, Trial

RUNS_LAST = "Linux grants fewer delegations for half a minute after each recall."
EMPTY, RETURNED_EMPTY = "RFC8267-6.4.1-5", "RFC8166-4.3.2.3-3"
BAD_LIST = "RFC8166-4.5.2-1"
RECALLED, RETRIED = "RFC8267-6.5.2-1", "RFC8881-2.10.13.2.4-1"
# Of the server as the requester of callbacks.
ERROR_DISCARDED, NOT_THE_REPLY = "RFC8166-4.2.4-5", "RFC8167-2.4-1"
NO_CHUNKS, APART = "RFC8267-6.5.2-3", "RFC8167-4.1-1"
INVALIDATION = (PLAIN, OWN)
# Octets of files: more than a page, and not a multiple of four. Octets of data that fit inline.
LENGTH, SHORT = 9001, 101
OTHER_XID = 0x40000000


class BesideRecall:
    """`callback`: the recall of a delegation of the trial's session, which has no answer yet. Each method sends a
    message beside it, judges what comes, and returns the call and its outcome."""

    def __init__(self, bench, environment):
        self.bench = bench
        self.trial = Trial(bench, environment)
        self.session = bench.nfs4_session(self.trial.conn, back=True)
        self.content = bench.random.randbytes(LENGTH)
        self.handle = bench.nfs4_files(self.session).file(self.content)
        self.recall = Recall(bench, self.session)
        self.callback = self.recall.expect_recall(RECALLED)

    @property
    def callbacks(self):
        return self.recall.callbacks

    def exchange(self, call):
        outcome = self.trial.exchange(call)
        self.session.note(outcome)
        return call, outcome

    def finish(self):
        """The right answer to the recall if it can still have one, and the return of the delegation."""
        if self.callback is None:
            self.give_back(RECALLED)
            return
        self.callbacks.answer(self.callback)
        self.recall.expect_done(RECALLED)
        self.trial.expect_met()

    def give_back(self, requirement_id):
        returned = self.recall.give_back()
        expect(returned, requirement_id, must=[kinds.REPLY], latitude=REVOKED)
        self.recall.expect_open(RECALLED)
        self.trial.expect_met()

    def write_chunk(self):
        call = self.session.call(*read_operations(self.handle, (0, LENGTH)))
        self.session.conn.write_chunk(call, LENGTH)
        call, outcome = self.exchange(call)
        expect_reads(outcome, ANSWERED, self.content)
        return call, outcome

    def empty_write_chunk(self):
        call = self.session.call(*read_operations(self.handle, (0, SHORT)))
        call.add_write_chunk([])
        call, outcome = self.exchange(call)
        expect_reads(outcome, EMPTY, self.content[:SHORT])
        expect_returned(outcome, call, RETURNED_EMPTY)
        return call, outcome

    def empty_reply_chunk(self):
        call = self.session.call(putfh(self.handle), getattr_of("size"))
        call.set_reply_chunk([])
        call, outcome = self.exchange(call)
        expect_any_form(self.bench, outcome, call)
        return call, outcome

    def long_call(self):
        content = self.content[::-1]
        call = self.session.call(putfh(self.handle), write(content))
        self.session.conn.long_call(call, sizes=[4096, len(call.payload) - 4096])
        call, outcome = self.exchange(call)
        expect(outcome, ANSWERED, must=[kinds.REPLY])
        expect_content(self.session, self.handle, content, ANSWERED)
        return call, outcome

    def broken_list(self):
        conn = self.session.conn
        call = read_call(conn, self.bench.file(bytes(LENGTH)), LENGTH)
        conn.write_chunk(call)
        call.read_list_end = 0xDEADBEEF
        outcome = self.trial.exchange(call)
        expect_err_chunk(outcome, call, BAD_LIST)
        return call, outcome

    def retry_after_loss(self):
        """The WRITE is sent again over another connection of the session. `server.backchannel.*` judges whether the recall
        is, too."""
        content = self.content[:SHORT][::-1]
        operations = putfh(self.handle), write(content)
        call = self.session.call(*operations, cachethis=True)
        self.session.conn.send(call)
        self.session.conn.abort()
        self.trial.conn = conn = self.trial.connect(callbacks=True)
        bound = self.session.bind(conn, NFS4.ChannelDirFromClient.CDFC4_BACK_OR_BOTH)
        expect(bound, RETRIED, must=[kinds.REPLY])
        self.session.conn, self.recall.carriers = conn, [conn]
        outcome = in_time(conn, "a retried WRITE", lambda: self.exchange(call)[1])
        expect(outcome, ANSWERED, must=[kinds.REPLY])
        self.callback = None
        return call, outcome


LEGAL = ("empty_write_chunk", "empty_reply_chunk", "long_call", "retry_after_loss")
IN_WORDS = {each.replace("_", "-"): each for each in (*LEGAL, "broken_list")}


@case(
    "server.combination.{message}-beside-recall.{environment}",
    requirements=[
        ANSWERED,
        EMPTY,
        RETURNED_EMPTY,
        *RETURNED,
        *LONG_REPLY,
        *CHUNK_SHAPE,
        RECALLED,
        RETRIED,
        *INVALIDATION,
    ],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("message", IN_WORDS)
def test_message(bench, message, environment):
    """A message while a recall of its session waits for its answer. Both get what they get alone."""
    beside = BesideRecall(bench, environment)
    call, outcome = getattr(beside, IN_WORDS[message])()
    expect_own(beside.session.conn, call, outcome)
    beside.finish()


def under_other_xid(callback):
    """The legal reply, but for another call."""
    payload = bytes(callback.among.reply_to(callback).payload)
    xid = callback.xid ^ OTHER_XID
    return callback.among.message(xid, xid.to_bytes(4, "big") + payload[4:])


def right(callback):
    """The legal reply."""
    return callback.among.reply_to(callback)


# What is sent in place of the answer: f(callback); its requirement; what else is legal.
WRONG = {
    "error": (error_for, ERROR_DISCARDED, {}),
    "chunk": (reply_with_chunk, NO_CHUNKS, {kinds.ERR_CHUNK: "refused", **ENDS}),
    "other-xid": (under_other_xid, NOT_THE_REPLY, {}),
    "twice": (right, NOT_THE_REPLY, {}),
}


@case(
    "server.combination.recall-answered-{answer}.{environment}",
    requirements=[ERROR_DISCARDED, NO_CHUNKS, NOT_THE_REPLY, APART, ANSWERED, RECALLED],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("answer", WRONG)
def test_wrong_answer(bench, answer, environment):
    """A recall is answered by an error, with a chunk, under another XID, or twice. The server sends nothing back, and the
    next call has its write chunk. Then the delegation is returned."""
    make, requirement_id, latitude = WRONG[answer]
    beside = BesideRecall(bench, environment)
    conn = beside.session.conn
    if make is right:
        beside.callbacks.answer(beside.callback)
    outcome = conn.exchange(make(beside.callback))
    expect(outcome, requirement_id, must=[kinds.SILENCE], latitude=latitude)
    if not conn.open:
        beside.session.conn = beside.trial.conn = beside.trial.connect()
    call, outcome = beside.write_chunk()
    if make is under_other_xid:
        beside.finish()
        return
    beside.give_back(APART)

"""Each kind of message in each environment: what works alone has to work with what else is negotiated.

`steertag coverage --pairs` lists the pairs."""

import pytest

from steertag.suite import case, expect, kinds
from steertag.suite.cases.environments import ENVIRONMENTS
from steertag.suite.nfs_client.nfs4_client import getattr_of, putfh
from ..chunk_checks import (
    chunk_length,
    expect_read,
    expect_read_data,
    expect_returned,
    expect_written,
    read_call,
    READ_RESULT,
    RETURNED,
    write_call,
    WRITTEN,
)
from ..invalidation_checks import expect_own, OWN, PLAIN
from ..message_words import CHUNK_SHAPE, expect_err_chunk, expect_err_vers, VERS_SHAPE
from ..nfs4_checks import expect_reads, read_operations
from ..reply_chunk_checks import expect_any_form, expect_long_reply, LONG_REPLY
from ..reverse_checks import Recall
from .trial import ANSWERED, Trial

UNUSED = "RFC8166-4.3.2.2-4"
EMPTY = "RFC8267-6.4.1-5"
INLINE, RETURNED_EMPTY = "RFC8166-4.3.2.3-2", "RFC8166-4.3.2.3-3"
RECALLED = "RFC8267-6.5.2-1"
# Octets of files: more than a page, and not a multiple of four.
LENGTH = 9001
INVALIDATION = (PLAIN, OWN)


class Messages:
    """Kinds of legal messages. A method sends one, judges its reply, and returns its call and outcome."""

    def __init__(self, trial):
        self.trial = trial
        self.bench, self.conn = trial.bench, trial.conn
        self.content = self.bench.random.randbytes(LENGTH)

    def _exchange(self, call):
        return call, self.trial.exchange(call)

    def _file(self):
        return self.bench.file(self.content)

    def null(self):
        call, outcome = self._exchange(self.conn.null_call())
        expect(outcome, ANSWERED, must=[kinds.REPLY])
        return call, outcome

    def inline_read(self):
        content = self.bench.random.randbytes(self.trial.inline)
        call, outcome = self._exchange(read_call(self.conn, self.bench.file(content), len(content)))
        expect(outcome, ANSWERED, must=[kinds.REPLY])
        expect_read_data(self.bench, outcome, call, content, outcome.result.ok.data)
        return call, outcome

    def inline_write(self):
        content, handle = self.bench.random.randbytes(self.trial.inline), self.bench.file()
        call, outcome = self._exchange(write_call(self.conn, handle, content))
        expect_written(self.bench, outcome, handle, content)
        return call, outcome

    def read_chunk(self):
        handle = self.bench.file()
        call = write_call(self.conn, handle, self.content)
        self.conn.reduce(call, sizes=[4096, LENGTH - 4096])
        call, outcome = self._exchange(call)
        expect_written(self.bench, outcome, handle, self.content)
        return call, outcome

    def write_chunk(self):
        call = read_call(self.conn, self._file(), LENGTH)
        self.conn.write_chunk(call)
        call, outcome = self._exchange(call)
        expect_read(self.bench, outcome, call, self.content)
        return call, outcome

    def write_chunk_at_end_of_file(self):
        call = read_call(self.conn, self._file(), LENGTH, offset=LENGTH)
        return self._unused(call, [kinds.REPLY])

    def write_chunk_of_failed_read(self):
        return self._unused(read_call(self.conn, self.bench.directory(), LENGTH), FAILED)

    def write_chunk_of_unknown_program(self):
        return self._unused(self.conn.rpc_call(0x2000FFFF, 1, 0), ["rpc:PROG_UNAVAIL"])

    def _unused(self, call, must):
        self.conn.write_chunk(call, length=LENGTH)
        call, outcome = self._exchange(call)
        expect(outcome, UNUSED, must=must)
        expect_returned(outcome, call, UNUSED)
        for returned in outcome.header.write_list:
            length = chunk_length(returned)
            expect.equal(length, 0, UNUSED, "length of an unused chunk", outcome=outcome)
        return call, outcome

    def reply_chunk(self):
        content = self.bench.random.randbytes(self.conn.negotiated.to_client_bytes + LENGTH)
        call = read_call(self.conn, self.bench.file(content), len(content))
        self.conn.reply_chunk(call)
        call, outcome = self._exchange(call)
        expect_long_reply(outcome, call)
        expect_read_data(self.bench, outcome, call, content, outcome.result.ok.data)
        return call, outcome

    def unused_reply_chunk(self):
        call = self.conn.nfs_call("GETATTR", object=self.bench.root)
        self.conn.reply_chunk(call, length=LENGTH)
        call, outcome = self._exchange(call)
        expect_any_form(self.bench, outcome, call)
        return call, outcome

    def empty_reply_chunk(self):
        """A reply chunk without segments, for a reply that fits inline."""
        call = self.conn.nfs_call("GETATTR", object=self.bench.root)
        call.set_reply_chunk([])
        call, outcome = self._exchange(call)
        expect_any_form(self.bench, outcome, call)
        return call, outcome

    def long_call(self):
        handle = self.bench.file()
        call = write_call(self.conn, handle, self.content)
        self.conn.long_call(call, sizes=[4096, len(call.payload) - 4096])
        call, outcome = self._exchange(call)
        expect_written(self.bench, outcome, handle, self.content)
        return call, outcome

    def retry_after_loss(self):
        """The WRITE is sent again over another connection, with the same octets."""
        content, handle = self.content[: self.trial.inline], self.bench.file()
        call = write_call(self.conn, handle, content)
        self.conn.send(call)
        self.conn.abort()
        self.trial.conn = self.conn = self.trial.connect()
        call, outcome = self._exchange(call)
        expect_written(self.bench, outcome, handle, content)
        return call, outcome


FAILED = ["nfs:NFS3ERR_ISDIR", "nfs:NFS3ERR_INVAL"]
LEGAL = [name for name in vars(Messages) if not name.startswith("_")]


def in_words(method):
    """The part of an id for a method."""
    return method.replace("_", "-")


@case(
    "server.combination.{message}.{environment}",
    requirements=[ANSWERED, UNUSED, *READ_RESULT, *WRITTEN, *LONG_REPLY, *INVALIDATION],
)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("message", map(in_words, LEGAL))
def test_legal(bench, message, environment):
    """A legal message gets its reply, and the reply invalidates at most an STag of the call."""
    messages = Messages(Trial(bench, environment))
    call, outcome = getattr(messages, message.replace("-", "_"))()
    expect_own(messages.conn, call, outcome)
    expect(messages.conn.probe(), ANSWERED, must=[kinds.REPLY])
    messages.trial.expect_met()


def break_list(call):
    call.read_list_end = 0xDEADBEEF


def other_version(call):
    call.vers = 2


def unknown_procedure(call):
    call.proc = 5


# The fault, and the requirement for ERR_CHUNK.
FAULTS = {
    "broken-list": (break_list, "RFC8166-4.5.2-1"),
    "unknown-procedure": (unknown_procedure, "RFC8166-4.5.2-2"),
    "other-version": (other_version, None),
}


@case(
    "server.combination.{fault}.{environment}",
    requirements=[ANSWERED, *CHUNK_SHAPE, *VERS_SHAPE, *INVALIDATION],
    hostile=True,
)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("fault", FAULTS)
def test_refused(bench, fault, environment):
    """A READ with a write chunk and a fault in its header gets its error, and nothing is invalidated. The
    next call is answered."""
    trial = Trial(bench, environment)
    call = read_call(trial.conn, bench.file(bytes(LENGTH)), LENGTH)
    trial.conn.write_chunk(call)
    spoil, due = FAULTS[fault]
    spoil(call)
    outcome = trial.exchange(call)
    if due is None:
        expect_err_vers(outcome, call)
    else:
        expect_err_chunk(outcome, call, due)
    expect_own(trial.conn, call, outcome)
    expect(trial.conn.probe(), ANSWERED, must=[kinds.REPLY])
    trial.expect_met()


@case(
    "server.combination.nfs3-empty-write-chunk.{environment}",
    requirements=[ANSWERED, INLINE, *RETURNED, RETURNED_EMPTY, *INVALIDATION],
    hostile=True,
)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
def test_empty_write_chunk(bench, environment):
    """A READ of NFSv3 with a write chunk of no segments. Its data come inline, and the chunk comes back empty. The
    next call is answered."""
    trial = Trial(bench, environment)
    content = bench.random.randbytes(100)
    call = read_call(trial.conn, bench.file(content), len(content))
    call.add_write_chunk([])
    outcome = expect(trial.exchange(call), INLINE, must=[kinds.REPLY])
    expect_returned(outcome, call, RETURNED_EMPTY)
    expect.data(outcome.result.ok.data, content, INLINE, "octets of the file", outcome=outcome)
    expect_own(trial.conn, call, outcome)
    expect(trial.conn.probe(), ANSWERED, must=[kinds.REPLY])
    trial.expect_met()


WRITE_LISTS = {"write-chunks": [True, True], "empty-write-chunk": [False, True]}


@case(
    "server.combination.nfs41-{chunks}.{environment}",
    requirements=[ANSWERED, EMPTY, *INVALIDATION],
    needs=["nfs41"],
)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("chunks", WRITE_LISTS)
def test_compound(bench, chunks, environment):
    """Two READs of NFSv4.1 with two write chunks. An empty one leaves its result inline."""
    trial = Trial(bench, environment)
    session = bench.nfs4_session(trial.conn)
    content = bench.random.randbytes(LENGTH)
    handle = bench.nfs4_files(session).file(content)
    call = session.call(*read_operations(handle, (0, 100), (100, LENGTH - 100)))
    for is_offered, length in zip(WRITE_LISTS[chunks], (100, LENGTH)):
        if is_offered:
            trial.conn.write_chunk(call, length)
        else:
            call.add_write_chunk([])
    outcome = trial.exchange(call)
    session.note(outcome)
    expect_reads(outcome, EMPTY, content[:100], content[100:])
    shapes = [len(chunk) > 0 for chunk in outcome.header.write_list]
    what = "which of the returned chunks have segments"
    expect.equal(shapes, WRITE_LISTS[chunks], EMPTY, what, outcome=outcome)
    expect_own(trial.conn, call, outcome)
    trial.expect_met()


@case(
    "server.combination.recall.{environment}",
    requirements=[ANSWERED, RECALLED, *INVALIDATION],
    needs=["delegations"],
)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
def test_recall(bench, environment):
    """A delegation is recalled over the backchannel of the connection, and the client's next READ has its write
    chunk."""
    trial = Trial(bench, environment)
    session = bench.nfs4_session(trial.conn, back=True)
    recall = Recall(bench, session)
    callback = recall.expect_recall(RECALLED)
    call = session.call(putfh(recall.handles[0]), getattr_of("size"))
    trial.conn.write_chunk(call, LENGTH)
    outcome = trial.exchange(call)
    session.note(outcome)
    expect(outcome, ANSWERED, must=[kinds.REPLY])
    expect_own(trial.conn, call, outcome)
    recall.callbacks.answer(callback)
    recall.expect_done(RECALLED)
    trial.expect_met()

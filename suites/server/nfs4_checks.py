"""What the cases on NFS version 4.1 share: sessions with files, statuses, results in write chunks."""

from steertag import nfs, wire
from steertag.suite import expect, kinds
from steertag.suite.nfs4_client import putfh, read

NFS4 = nfs.nfs4
BACK = NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN
READ = NFS4.OPEN4_SHARE_ACCESS_READ
WRITE = NFS4.OPEN4_SHARE_ACCESS_WRITE
WANT_READ = NFS4.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
# Statuses by which a server refuses a COMPOUND that is malformed for it.
MALFORMED = ("nfs:NFS4ERR_BADXDR", "rpc:GARBAGE_ARGS")


def status(name):
    """The kind of an Outcome whose COMPOUND ended with this status."""
    return f"nfs:{name}"


def with_file(bench, content, **settings):
    """A session, and the handle of a new file with this content."""
    session = bench.nfs4_session(**settings)
    return session, bench.nfs4_files(session).file(content)


def read_operations(handle, *ranges):
    """PUTFH, and a READ for each (offset, count)."""
    return [putfh(handle)] + [read(count, offset) for offset, count in ranges]


def expect_reads(outcome, requirement_id, *contents):
    """The READs of a reply gave these octets, wherever they travelled."""
    expect(outcome, requirement_id, must=[kinds.REPLY])
    results = outcome.result.all("READ")
    expect.equal(len(results), len(contents), requirement_id, "results of READ", outcome=outcome)
    for result, content in zip(results, contents):
        expect.data(
            result.resok4.data, content, requirement_id, "octets of a READ", outcome=outcome
        )


def items(outcome, call):
    """Where the reply has the DDP-eligible results: [nfs.binding.EligibleItem]."""
    long_reply = outcome.header.proc == wire.Procedure.NOMSG
    payload = outcome.reply_chunk if long_reply else wire.decode(outcome.raw)[1]
    lengths = [sum(each.length for each in chunk) for chunk in outcome.header.write_list]
    return nfs.binding.eligible_results(payload, *call.asked, lengths)


def expect_slot_moves(session, requirement_id):
    """The session goes on: its next request is executed."""
    expect(session.exchange("PUTROOTFH"), requirement_id, must=[kinds.REPLY])


def expect_content(session, handle, content, requirement_id):
    """The file has this content, read through a write chunk."""
    call = session.call(*read_operations(handle, (0, len(content) + 8)))
    session.conn.write_chunk(call, len(content) + 8)
    expect_reads(session.conn.exchange(call), requirement_id, content)

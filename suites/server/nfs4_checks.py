"""What the cases on NFSv4.1 share: sessions with files, statuses, results in chunks."""

from steertag import nfs, wire
from steertag.suite import expect, kinds
from steertag.suite.cases.case_run import current_run
from steertag.suite.nfs_client.nfs4_client import BESIDE_DATA, getattr_of, putfh, read
from steertag.verdict import Verdict
from .chunk_checks import chunk_length

NFS4 = nfs.nfs4
BACK = NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN
READ = NFS4.OPEN4_SHARE_ACCESS_READ
WRITE = NFS4.OPEN4_SHARE_ACCESS_WRITE
WANT_READ = NFS4.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
# The requirements that expect_chunks asserts beside that of its caller.
COPIED, EMPTY = "RFC8166-3.4.6-4", "RFC8267-6.4.1-5"
# Statuses for a COMPOUND that is malformed to the server.
MALFORMED = ("nfs:NFS4ERR_BADXDR", "rpc:GARBAGE_ARGS")
# The most READs that read a file back: enough for 256 KiB at 256 octets each.
MOST_READS = 1024
# Octets of a reply to a RENAME.
SMALL_REPLY = 256


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


def note_fewer(requirement_id, what):
    """Notes a READ or WRITE of fewer octets than asked for, which is legal (RFC 8881 18.22.3,
    18.32.3)."""
    current_run().check_declared(requirement_id)
    current_run().note(Verdict.LATITUDE, f"{requirement_id}: {what} of fewer octets than asked for")


def expect_reads(outcome, requirement_id, *contents):
    """The READs of a reply returned these octets or their beginnings, inline or in chunks."""
    expect(outcome, requirement_id, must=[kinds.REPLY])
    results = outcome.result.all("READ")
    expect.equal(len(results), len(contents), requirement_id, "results of READ", outcome=outcome)
    for result, content in zip(results, contents):
        found = result.resok4
        if not found.eof and 0 < len(found.data) < len(content):
            note_fewer(requirement_id, "a READ")
            content = content[: len(found.data)]
        expect.data(found.data, content, requirement_id, "octets of a READ", outcome=outcome)


def expect_chunks(outcome, lengths, requirement_id):
    """The reply returns each write chunk with this many octets. None stands for an empty chunk,
    which stays empty."""
    returned = outcome.header.write_list
    expect.equal(len(returned), len(lengths), COPIED, "write chunks of the reply", outcome=outcome)
    for number, (chunk, length) in enumerate(zip(returned, lengths)):
        what = f"octets in write chunk {number}"
        if length is None:
            expect.equal(len(chunk), 0, EMPTY, "segments of an empty chunk", outcome=outcome)
        else:
            expect.equal(chunk_length(chunk), length, requirement_id, what, outcome=outcome)


def items(outcome, call):
    """The DDP-eligible results of the reply: [nfs.binding.EligibleItem]."""
    long_reply = outcome.header.proc == wire.Procedure.NOMSG
    payload = outcome.reply_chunk if long_reply else wire.decode(outcome.raw)[1]
    lengths = [sum(each.length for each in chunk) for chunk in outcome.header.write_list]
    return nfs.binding.eligible_results(payload, *call.asked, lengths)


def expect_slot_moves(session, requirement_id):
    """The session still works: it executes the next request."""
    expect(session.exchange("PUTROOTFH"), requirement_id, must=[kinds.REPLY])


def expect_content(session, handle, content, requirement_id):
    """The file has this content, read through write chunks."""
    found = bytearray()
    count = min(len(content) + 8, session.largest_read)
    for _ in range(MOST_READS):
        call = session.call(*read_operations(handle, (len(found), count)))
        session.conn.write_chunk(call, count)
        outcome = session.conn.exchange(call)
        expect(outcome, requirement_id, must=[kinds.REPLY])
        read_now = outcome.result["READ"].resok4
        found += read_now.data
        if read_now.eof or not read_now.data or len(found) > len(content):
            break
    expect.data(found, content, requirement_id, "content of the file", outcome=outcome)


# -- what a server granted -------------------------------------------------------------------------


def largest_write(session, handle):
    """The most octets of data that the server takes in one WRITE to this file."""
    found = session.run(putfh(handle), getattr_of("maxwrite"))["GETATTR"].resok4
    accepted = NFS4.attributes(found.obj_attributes).get("maxwrite") or session.largest_write
    return min(session.largest_write, accepted)


def need_cached(bench, session, octets):
    """The case is not testable where the session caches no reply of this size. A server may lower
    ca_maxresponsesize_cached (RFC 8881 18.36.3)."""
    if session.fore.ca_maxresponsesize_cached < octets:
        bench.not_testable("the session caches no reply of this size")


def make_room(conn, call, octets):
    """Makes room for a reply with this many octets of results."""
    conn.make_room(call, octets + BESIDE_DATA)


def need_inline(bench, conn, call):
    """The case is not testable where its call does not fit inline."""
    if len(call.encoded()) > conn.negotiated.to_server_bytes:
        bench.not_testable("the target's inline threshold is smaller than the call")


# -- security of callbacks -------------------------------------------------------------------------


def unknown_handles():
    """callback_sec_parms4 with RPCSEC_GSS handles that the server never issued."""
    handles = NFS4.GssCbHandles(
        gcbp_handle_from_server=b"nobody gave this", gcbp_handle_from_client=b"to anybody"
    )
    flavor = NFS4.CallbackFlavor.RPCSEC_GSS
    return NFS4.CallbackSecParms(cb_secflavor=flavor, cbsp_gss_handles=handles)


def expect_no_handle(outcome, requirement_id, latitude=None):
    """Expects NFS4ERR_NOENT for RPCSEC_GSS handles that the server never issued. Another refusal is
    a warning. NFS4ERR_DELAY does not reach this check: see nfs4_client.in_time."""
    other = {}
    if outcome.kind.startswith("nfs:"):
        other = {outcome.kind: "refused, by another status"}
    must = [status("NFS4ERR_NOENT")]
    expect(outcome, requirement_id, must=must, latitude=latitude, warn=other)

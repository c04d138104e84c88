"""NFS version 4.0, and operations beyond 4.1 (RFC 8167 3.1, RFC 8267 6.5, 7).

Version 4.0 sends no callbacks on the client's connection. Without a binding nothing is eligible."""

import struct

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import putfh
from .nfs40_client import run_of_version_0
from ..nfs4_checks import NFS4, READ, WRITE, make_room
from ..reverse_checks import expect_quiet

SEPARATE = "RFC8167-3.1-1"


@case(
    "server.nfs40.no-reverse-calls",
    requirements=[SEPARATE, "RFC8267-6.5.1-1", "RFC8267-6.5.1-2"],
    needs=["nfs41"],
)
def test_no_reverse_calls(bench):
    """A client of version 4.0 names a TCP address for callbacks and opens a file. Another client
    opens it for writing. The server sends no calls on the RDMA connection."""
    conn = bench.connect(callbacks=True)
    owner = bench.name("client").encode() + bench.random.randbytes(8)
    made = run_of_version_0(
        bench,
        conn,
        operation(
            "SETCLIENTID",
            client={"verifier": b"verifier", "id": owner},
            callback={
                "cb_program": 0x40000000,
                "cb_location": {"na_r_netid": "tcp", "na_r_addr": "192.0.2.1.200.1"},
            },
        ),
    )
    granted = made["SETCLIENTID"].resok4
    confirm = {"setclientid_confirm": granted.setclientid_confirm}
    run_of_version_0(
        bench, conn, operation("SETCLIENTID_CONFIRM", clientid=granted.clientid, **confirm)
    )
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    name = bench.name("opened")
    bench.file(b"content", name)
    opening = operation(
        "OPEN",
        share_access=READ,
        owner={"clientid": granted.clientid, "owner": b"process"},
        claim={"claim": NFS4.ClaimType.CLAIM_NULL, "file": name},
    )
    run_of_version_0(bench, conn, *files.path(), opening, "GETFH")
    writing = session.open_operation(name, WRITE, b"writer")
    session.exchange(putfh(files.directory), writing, "GETFH")
    for _ in range(2):  # the transport keeps order: a call would arrive before the second reply
        expect(conn.probe(), SEPARATE, must=[kinds.REPLY])
    chunks = [each for each in conn.callbacks.seen if has_chunks(each.header)]
    expect.equal(len(chunks), 0, "RFC8267-6.5.1-2", "callbacks with chunks of data")
    expect_quiet(conn, "RFC8267-6.5.1-1", "calls on the connection of a client of version 4.0", 0)


def has_chunks(header):
    """Whether a message has any chunk."""
    return bool(header.write_list) or any(each.position for each in header.read_list)


# Operations of minor version 2 (RFC 7862): number, and arguments that are legal there.
LATER = {
    "read-plus": (68, struct.pack(">I12xQI", 0, 0, 4096)),
    "io-advise": (63, struct.pack(">I12xQQII", 0, 0, 4096, 1, 1)),
    "seek": (69, struct.pack(">I12xQI", 0, 0, 0)),
}


@case(
    "server.nfs4.later-{name}-{minor}",
    requirements=["RFC8267-6.1-5"],
    needs=["nfs41"],
)
@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("minor", [1, 2])
def test_later_operations(bench, name, minor):
    """Operations of minor version 2 with a write chunk. They have no binding, so the chunk is
    returned unused, whether they are executed or not."""
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    handle = files.file(bytes(4096))
    call = session.conn.compound_call(
        session.sequence(), putfh(handle), LATER[name], minorversion=minor
    )
    session.conn.write_chunk(call, 4096)
    make_room(session.conn, call, 4096)
    outcome = session.conn.exchange(call)
    # Any status of NFS is legal. A refused operation is not reduced either.
    if not outcome.kind.startswith("nfs:"):
        known = {kinds.REPLY: "executed"}
        if outcome.results:  # results of RPC: the header of the reply is sound
            known[kinds.GARBAGE] = "executed, and not decoded here"
        expect(outcome, "RFC8267-6.1-5", must=["rpc:GARBAGE_ARGS"], latitude=known)
    used = sum(each.length for chunk in outcome.header.write_list for each in chunk)
    expect.equal(used, 0, "RFC8267-6.1-5", "octets in the write chunk", outcome=outcome)

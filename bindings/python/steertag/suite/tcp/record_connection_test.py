"""Replies over TCP: those of two calls with one XID, in any order."""

import contextlib
import socket
import threading

import pytest

from steertag import nfs, rpc
from steertag.suite import kinds
from steertag.suite.exchange.deadline import Deadlines
from steertag.suite.run.profile import Profile
from steertag.suite.tcp.record_link import RecordLink

NFS3 = nfs.nfs3
END_S = 20
CALLS = 2


@contextlib.contextmanager
def server(replies):
    """The port of a server that takes CALLS calls and then sends `replies(xid)`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):
                accepted, _ = listener.accept()
                reader, calls = rpc.RecordReader(), []
                with accepted:
                    while len(calls) < CALLS:
                        calls += reader.feed(accepted.recv(4096))
                    xid = rpc.Call.decode(calls[0])[0].xid
                    accepted.sendall(b"".join(map(rpc.record, replies(xid))))
                    accepted.recv(1)  # until the other end closes

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(END_S)


def null(xid):
    return rpc.Reply(xid=xid).encode()


def stale(xid):
    """GETATTR of a handle that is stale."""
    return null(xid) + int(NFS3.Status.NFS3ERR_STALE).to_bytes(4, "big")


@pytest.mark.parametrize(
    "order, wanted",
    [
        ((null, stale), [kinds.REPLY, "nfs:NFS3ERR_STALE"]),
        ((stale, null), ["nfs:NFS3ERR_STALE", kinds.REPLY]),
    ],
)
def test_replies_to_two_calls_with_one_xid_come_in_any_order(order, wanted):
    with server(lambda xid: [each(xid) for each in order]) as port:
        link = RecordLink(f"tcp://127.0.0.1:{port}", Profile())
        conn = link.helper(Deadlines())
        first = conn.null_call()
        second = conn.nfs_call("GETATTR", object=b"handle", xid=first.xid)
        conn.send(first)
        conn.send(second)
        seen = [conn.await_either(first, second).kind for _ in range(CALLS)]
        conn.abort()
    assert seen == wanted

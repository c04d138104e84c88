"""What the scripts of cases for clients see of the suite's own server."""

import select
import socket

from steertag import fabric, peer, rpc
from steertag.suite.client.client_bench import ScriptAdapter
from steertag.suite.client.client_session import Client
from steertag.suite.client.script import NFS, Script

XID = 0x1234ABCD
MOST_POLLS = 1000  # of POLL_MS: above what a reply takes on a loaded machine
POLL_MS = 5
LAST_FRAGMENT = 1 << 31


class Seeing(Script):
    """Notes the calls that it sees."""

    def __init__(self):
        self.calls = []

    def on_call(self, conn, call):
        self.calls.append(call)


def _reply_over_tcp(server, call):
    """The record that comes back for this call over the server's second URL."""
    place = fabric.parse_url(server.listening[1])
    with socket.create_connection((place.host, place.port)) as stream:
        stream.sendall((LAST_FRAGMENT | len(call)).to_bytes(4, "big") + call)
        for _ in range(MOST_POLLS):
            server.poll(POLL_MS)
            if select.select([stream], [], [], 0)[0]:
                return stream.recv(1 << 12)
    return b""


def test_calls_over_tcp_are_no_affair_of_a_script():
    """A client of version 3 mounts over TCP. The script has no connection that these calls belong to."""
    script = Seeing()
    adapter = ScriptAdapter(script, [], watch=None)
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0", "tcp://127.0.0.1:0"], adapter)
    try:
        call = rpc.Call(xid=XID, program=NFS, version=3, procedure=0).encode(b"")
        reply = _reply_over_tcp(server, call)
    finally:
        server.close()
    assert reply[4:8] == XID.to_bytes(4, "big"), f"the reply over TCP: {reply.hex()}"
    assert script.calls == [], "the script saw a call that came over TCP"


class _Given:
    """Options of a run: a client whose server listens at two URLs."""

    client_command = "client {url}"
    listen_urls = ["iwarp://127.0.0.1:0", "tcp://127.0.0.1:0"]


def test_a_server_with_fewer_urls_leaves_the_others_alone():
    """A metadata server and its data servers are reached over RDMA only. What listens after them has its TCP port
    again."""
    client = Client(_Given)
    client.listens_at(["iwarp://127.0.0.1:1001", "tcp://127.0.0.1:1002"])
    client.listens_at(["iwarp://127.0.0.1:1001"])
    assert client.listen == ["iwarp://127.0.0.1:1001", "tcp://127.0.0.1:1002"]
    assert client.url == "iwarp://127.0.0.1:1001/export"

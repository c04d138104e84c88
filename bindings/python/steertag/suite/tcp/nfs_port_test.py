"""The try of the NFS port: what answers there, and within which time."""

import contextlib
import socket
import threading
import time

import pytest

from steertag import rpc
from steertag.suite.run.profile import Profile
from steertag.suite.tcp import nfs_port

SHORT_MS = 100
# More than two waits of SHORT_MS, on a machine with much else to do.
SOON_S = 20


@contextlib.contextmanager
def listener(answer):
    """The port of a server that gives `answer(xid)` to the first record, or nothing for None."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with contextlib.suppress(OSError):
                accepted, _ = server.accept()
                with accepted:
                    call = accepted.recv(4096)
                    octets = answer(int.from_bytes(call[4:8], "big"))
                    if octets is not None:
                        accepted.sendall(octets)
                    accepted.recv(1)  # until the other end closes

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        thread.join(SOON_S)


def reply(**fields):
    return lambda xid: rpc.record(rpc.Reply(xid=xid, **fields).encode())


MISMATCH = {
    "accept_status": rpc.AcceptStatus.PROG_MISMATCH,
    "mismatch": rpc.VersionRange(low=4, high=4),
}


@pytest.mark.parametrize("fields", [{}, MISMATCH])
def test_a_server_of_nfs_is_found(monkeypatch, fields):
    with listener(reply(**fields)) as port:
        monkeypatch.setattr(nfs_port, "NFS_PORT", port)
        found = nfs_port.try_nfs_port("iwarp://127.0.0.1:20049/export", Profile())
    assert found == nfs_port.Found(f"tcp://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "answer, kind",
    [
        (reply(accept_status=rpc.AcceptStatus.PROG_UNAVAIL), "rpc:PROG_UNAVAIL"),
        (lambda xid: b"SSH-2.0-OpenSSH_9.2", "violation"),
        (lambda xid: None, "hang"),
    ],
)
def test_another_service_is_not(monkeypatch, answer, kind):
    with listener(answer) as port:
        monkeypatch.setattr(nfs_port, "NFS_PORT", port)
        before = time.monotonic()
        found = nfs_port.try_nfs_port("iwarp://127.0.0.1/", Profile(), SHORT_MS)
    assert time.monotonic() - before < SOON_S
    sentence = f"port {port} was tried: a NULL call of NFS gave {kind}"
    assert found == nfs_port.Found(sentence=sentence)


def test_a_closed_port_is_told(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setattr(nfs_port, "NFS_PORT", port)
    found = nfs_port.try_nfs_port("iwarp://127.0.0.1/", Profile())
    refused = f"port {port} was tried: 127.0.0.1:{port}: Connection refused"
    assert found == nfs_port.Found(sentence=refused)


def test_an_address_of_version_6_is_in_brackets():
    assert nfs_port.nfs_url("verbs://[fe80::1]:20049/export") == "tcp://[fe80::1]:2049"

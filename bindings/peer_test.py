"""The reference peers from Python: a server in its thread, a client, and the deviations."""

import socket

import pytest

from steertag import ledger, peer, requirements, trace
from steertag.coverage.matrix import RESTATING


NULL_CALL = b"".join(word.to_bytes(4, "big") for word in (1, 0, 2, 100003, 3, 0, 0, 0, 0, 0))


@pytest.fixture
def server():
    with peer.Server("iwarp://127.0.0.1:0", credits=4) as running:
        yield running


def client_of(server, **options):
    return peer.Client(f"iwarp://127.0.0.1:{server.port}", **options)


@pytest.mark.parametrize(
    "options",
    [
        {"inline_bytes": 1025},
        {"credits": 1024, "inline_bytes": 262144},
        {"idle_timeout_s": float("nan")},
    ],
)
def test_impossible_options_are_refused(options):
    with pytest.raises(ValueError):
        peer.Server(**options)


def test_null_call_comes_back_with_the_grant(server):
    client = client_of(server)
    reply = client.call(NULL_CALL)
    assert len(reply) == 24
    assert client.granted == 4
    assert client.thresholds == (4096, 4096)


def test_wish_decides_the_form(server):
    client = client_of(server)
    client.call(NULL_CALL, peer.FormWish(long_call=peer.Use.ALWAYS))
    assert client.last_remotely_invalidated
    assert server.statistics()["pulled_bytes"] == len(NULL_CALL)


def test_client_without_private_data_gets_the_defaults(server):
    client = client_of(server, private_data=False)
    client.call(NULL_CALL)
    assert client.thresholds == (1024, 1024)


def test_errors_have_a_code(server):
    client = client_of(server)
    with pytest.raises(peer.CallError) as caught:
        client.call(b"abc")
    assert caught.value.code == "bad_call"
    with pytest.raises(peer.CallError, match="PROC_UNAVAIL") as caught:
        client.call(NULL_CALL[:20] + (99).to_bytes(4, "big") + NULL_CALL[24:])
    assert caught.value.code == "rpc_error"


def test_client_connects_again_after_a_loss(server):
    client = client_of(server)
    client.call(NULL_CALL)
    client.abort()
    client.call(NULL_CALL)
    assert server.statistics()["connections"] == 2


def test_every_deviation_breaks_a_requirement_of_the_ledger():
    rows = peer.deviations()
    assert len(rows) >= 36
    named = [each for row in rows for each in (row.requirement, *row.also)]
    assert all(ledger.find(each) is not None for each in named)
    assert len(named) > len(rows), "some break further requirements"


# The server is the requester of its callbacks (RFC 8167 5.2), so these rows bind it too.
OF_CALLBACKS = {
    ("bad-callback-reply-disconnects", "RFC8166-4.5-3"),
    ("reply-rpc-xid-alone", "RFC8166-4.5-3"),
    ("reply-version-ignored", "RFC8166-4.5-3"),
}


def test_what_a_deviation_breaks_binds_who_has_it():
    """A deviation breaks no row of the other side, and no row from which its side is exempt. It may
    break a restated row."""
    unbound = []
    for role in (trace.Role.server, trace.Role.client):
        for row in peer.deviations(role):
            for each in {row.requirement, *row.also}:
                entry = requirements.find(each)
                exempt = requirements.exempt(entry, row.side) and entry.exemption.kind != RESTATING
                if row.side not in requirements.sides(entry) or exempt:
                    unbound.append((row.name, each))
    assert sorted(unbound) == sorted(OF_CALLBACKS)


def test_deviation_is_had_by_the_server():
    with peer.Server(deviate=["grants-zero"]) as server:
        client = client_of(server)
        client.call(NULL_CALL)
        assert client.last_header.credit == 0


def test_several_transports_serve_one_storage(tmp_path):
    urls = ["iwarp://127.0.0.1:0", "tcp://127.0.0.1:0"]
    with peer.Server(urls, export=str(tmp_path)) as server:
        assert [url.split("://")[0] for url in server.listening] == ["iwarp", "tcp"]
        assert len(client_of(server).call(NULL_CALL)) == 24
        port = int(server.listening[1].rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as stream:
            stream.sendall((0x80000000 + len(NULL_CALL)).to_bytes(4, "big") + NULL_CALL)
            assert len(stream.recv(28, socket.MSG_WAITALL)) == 28


def test_missing_export_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match="missing"):
        peer.Server(export=str(tmp_path / "missing"))


def test_unknown_deviation_proposes_others():
    with pytest.raises(ValueError, match="grants-zero"):
        peer.Server(deviate=["grant-zero"])

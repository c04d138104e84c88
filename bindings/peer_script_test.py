"""The reference server, polled by a test, with a script as the interposer."""

import threading

import pytest

from steertag import fabric, peer, wire

NULL_CALL = b"".join(word.to_bytes(4, "big") for word in (0x1234, 0, 2, 100003, 3, 0, 0, 0, 0, 0))
# Polls until an awaited event; each runs for POLL_MS at most.
MOST_POLLS = 500
POLL_MS = 10


class Script:
    """A conforming script that records its notices."""

    def __init__(self):
        self.seen = []
        self.lines = []

    def on_request(self, step):
        self.seen.append(("request", bytes(step.client_data)))

    def on_accepted(self, line):
        self.lines.append(line)

    def on_arrival(self, line, message):
        self.seen.append(("arrival", message))
        return False

    def on_departure(self, line, departure):
        self.seen.append((departure.kind, departure.message))
        return False

    def on_read(self, line, number, octets):
        self.seen.append(("read", octets))

    def on_down(self, line, reason):
        self.seen.append(("down", reason))


def call_in_thread(server, replies):
    """A client in a thread of its own, like another process."""

    def run():
        client = peer.Client(server.listening[0], timeout_s=5.0)
        try:
            replies.append(client.call(NULL_CALL))
        except peer.CallError as error:
            replies.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def serve_until_end(server, thread):
    for _ in range(MOST_POLLS):
        server.poll(POLL_MS)
        if not thread.is_alive():
            return
    pytest.fail("the client did not end")


@pytest.fixture
def script():
    return Script()


def test_script_sees_a_call_and_its_reply(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    replies = []
    serve_until_end(server, call_in_thread(server, replies))
    assert len(replies[0]) == 24
    assert [kind for kind, _ in script.seen[:3]] == ["request", "arrival", "reply"]
    assert wire.find_private_data(script.seen[0][1]) is not None
    server.close()
    assert not script.lines[0].up
    with pytest.raises(fabric.FabricError):
        script.lines[0].send(b"abcd")


@pytest.mark.parametrize("method", ["on_request", "on_arrival", "on_departure"])
def test_what_a_script_raises_comes_out_of_poll(script, method):
    def broken(*_):
        raise KeyError("broken script")

    setattr(script, method, broken)
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    replies = []
    thread = call_in_thread(server, replies)
    with pytest.raises(KeyError, match="broken script"):
        serve_until_end(server, thread)
    server.close()
    thread.join()
    assert isinstance(replies[0], peer.CallError)


def test_wrong_answer_to_a_request_is_told(script):
    def answer(step):
        step.answer = "maybe"

    script.on_request = answer
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    thread = call_in_thread(server, [])
    with pytest.raises(ValueError, match="accept, reject, drop or keep, not maybe"):
        serve_until_end(server, thread)
    server.close()
    thread.join()


def test_server_is_not_polled_from_its_own_script(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    script.on_accepted = lambda line: server.poll(0)
    thread = call_in_thread(server, [])
    with pytest.raises(RuntimeError, match="being polled"):
        serve_until_end(server, thread)
    server.close()
    thread.join()


def test_storage_is_filled_and_read_back(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    server.put("source", b"abc" * 1000)
    assert server.get("source") == b"abc" * 1000
    assert server.get("copy") is None
    assert server.names == ["source"]
    with pytest.raises(ValueError, match="source"):
        server.put("source", b"again")


def test_closed_server_is_told(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    server.close()
    server.close()
    assert server.connection_count == 0
    with pytest.raises(RuntimeError, match="closed"):
        server.poll(0)

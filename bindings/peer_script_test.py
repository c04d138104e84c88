"""The reference server, polled by a test, with a script as the interposer."""

import threading

import pytest

from steertag import fabric, peer, wire
from steertag.suite.exchange.roce_address import with_free_address

NULL_CALL = b"".join(word.to_bytes(4, "big") for word in (0x1234, 0, 2, 100003, 3, 0, 0, 0, 0, 0))
# Polls until an awaited event; each runs for POLL_MS at most.
MOST_POLLS = 500
POLL_MS = 10
POLLS_BEFORE_RECEIVES = 3
# Until a client gives up a reply that it discards.
UNANSWERED_S = 0.3


class Script:
    """A conforming script that records its notices."""

    def __init__(self):
        self.seen = []
        self.connections = []

    def on_request(self, step):
        self.seen.append(("request", bytes(step.client_data)))

    def on_accepted(self, raw):
        self.connections.append(raw)

    def on_arrival(self, raw, message):
        self.seen.append(("arrival", message))
        return False

    def on_departure(self, raw, departure):
        self.seen.append((departure.kind, departure.message))
        return False

    def on_read(self, raw, number, octets):
        self.seen.append(("read", octets))

    def on_down(self, raw, reason):
        self.seen.append(("down", reason))


def call_in_thread(server, replies, timeout_s=5.0):
    """A client in a thread of its own, like another process."""

    def run():
        client = peer.Client(server.listening[0], timeout_s=timeout_s)
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
    assert not script.connections[0].up
    with pytest.raises(fabric.FabricError):
        script.connections[0].send(b"abcd")


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


PROC_UNAVAIL = (3).to_bytes(4, "big")


def answer_seen(script):
    """The RPC reply that has left."""
    (reply,) = (octets for kind, octets in script.seen if kind == "reply")
    return wire.decode(reply)[1]


def test_another_call_is_executed_in_the_place_of_one(script):
    script.on_call = lambda _, call: call[:20] + (99).to_bytes(4, "big") + call[24:]
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    serve_until_end(server, call_in_thread(server, []))
    assert answer_seen(script)[-4:] == PROC_UNAVAIL, "there is no procedure 99"
    server.close()


def test_another_reply_leaves_in_the_place_of_one(script):
    asked = []

    def answer(number, call, reply):
        asked.append((number, call))
        return reply[:-4] + PROC_UNAVAIL

    script.on_reply = answer
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    serve_until_end(server, call_in_thread(server, []))
    assert answer_seen(script)[-4:] == PROC_UNAVAIL
    ((number, call),) = asked
    assert number == script.connections[0].number
    assert call[4:] == NULL_CALL[4:], "but for the XID"
    server.close()


def test_the_metadata_server_of_data_servers_is_like_any_other(script):
    stripes = peer.Stripes([Script(), Script()], unit_bytes=4096, dense=True)
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script, stripes=stripes)
    assert len(server.listening) == 1
    replies = []
    serve_until_end(server, call_in_thread(server, replies))
    assert len(replies[0]) == 24
    server.put("file", b"octets")
    assert server.get("file") == b"octets"
    server.close()
    assert server.connection_count == 0


def test_data_servers_are_where_an_address_can_be_named(script):
    """Every address of a host is no address for a client. Beside another one it is left out."""
    stripes = peer.Stripes([Script()], unit_bytes=4096)
    with pytest.raises(fabric.FabricError, match="tcp://0.0.0.0:[0-9]+ names none"):
        peer.ScriptedServer(["tcp://0.0.0.0:0"], script, stripes=stripes)
    server = peer.ScriptedServer(
        ["iwarp://127.0.0.1:0", "tcp://0.0.0.0:0"], script, stripes=stripes
    )
    assert len(server.listening) == 2
    server.close()


def test_deviations_change_what_is_executed(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script, deviate=["auth-none-refused"])
    replies = []
    serve_until_end(server, call_in_thread(server, replies))
    assert isinstance(replies[0], peer.CallError)
    (reply,) = (octets for kind, octets in script.seen if kind == "reply")
    denied = (1).to_bytes(4, "big")
    assert wire.decode(reply)[1][8:12] == denied, "MSG_DENIED"
    server.close()


def test_deviations_change_what_leaves(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script, deviate=["reply-vers-two"])
    replies = []
    serve_until_end(server, call_in_thread(server, replies, UNANSWERED_S))
    assert isinstance(replies[0], peer.CallError)
    # The script sees what the reference server says.
    (reply,) = (octets for kind, octets in script.seen if kind == "reply")
    assert wire.peek(reply).vers == 1
    server.close()


def test_deviations_do_not_change_what_the_script_sends(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script, deviate=["reply-vers-two"])

    def conform(raw, departure):
        raw.send(departure.message)
        return True

    script.on_departure = conform
    replies = []
    serve_until_end(server, call_in_thread(server, replies))
    assert len(replies[0]) == 24
    server.close()


def test_unknown_deviation_is_an_error(script):
    with pytest.raises(ValueError, match="nearest are grants-zero"):
        peer.ScriptedServer(["iwarp://127.0.0.1:0"], script, deviate=["grant-zero"])


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
    script.on_accepted = lambda raw: server.poll(0)
    thread = call_in_thread(server, [])
    with pytest.raises(RuntimeError, match="being polled"):
        serve_until_end(server, thread)
    server.close()
    thread.join()


def test_storage_is_filled_and_read_back(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    server.put("source", b"abc" * 1000)
    assert server.get("source") == b"abc" * 1000
    assert server.get("source", most_bytes=10) == b"abcabcabca"
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


def test_file_is_rewritten_as_it_is(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    server.put("source", b"abc" * 1000)
    server.rewrite("source")
    assert server.get("source") == b"abc" * 1000
    with pytest.raises(ValueError, match="no file none"):
        server.rewrite("none")


def test_blocks_of_direct_access_are_powers_of_two(script):
    with pytest.raises(ValueError, match="direct_block: a power of two from 4096 to 65536"):
        peer.ScriptedServer(["iwarp://127.0.0.1:0"], script, direct_block=5000)


def test_server_without_direct_access_has_no_frames(script):
    server = peer.ScriptedServer(["iwarp://127.0.0.1:0"], script)
    assert server.frame(1) is None
    with pytest.raises(ValueError, match="the frame has 0 octets, not 4"):
        server.set_frame(1, b"abcd")
    server.end_optimistic()


def test_receives_may_be_posted_late(script):
    """What finds none is sent again, as often as the client is asked to."""
    server = peer.ScriptedServer([with_free_address("roce://127.0.0.1:0")], script)
    polls = []

    def on_request(step):
        assert step.receives > 0 and step.most_rnr_repetitions == 0
        step.receives = 0
        step.most_rnr_repetitions = 6

    script.on_request = on_request
    replies = []
    thread = call_in_thread(server, replies)
    for _ in range(MOST_POLLS):
        server.poll(POLL_MS)
        if script.connections:
            polls.append(list(script.seen))
            if len(polls) == POLLS_BEFORE_RECEIVES:
                script.connections[0].add_receives(2)
        if not thread.is_alive():
            break
    thread.join()
    assert len(replies[0]) == 24
    assert not any(polls[POLLS_BEFORE_RECEIVES - 1]), "a call arrived without a receive"
    server.close()

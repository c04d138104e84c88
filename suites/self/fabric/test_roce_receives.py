"""A Send without a receive, over RoCE. The suites let no side repeat it, so a connection ends as over iWARP."""

import pytest

from steertag import fabric, peer, rpc
from steertag.suite.exchange.roce_address import with_free_address
from steertag.suite.rdma.rdma_link import MOST_RNR_REPETITIONS, RdmaLink
from steertag.suite.run.profile import Profile

WAIT_MS = 10000
POLL_MS = 5
MOST_POLLS = WAIT_MS // POLL_MS
ENDED = "the peer has posted no receive after 0 repetitions (RNR)"


def connected(client_options, server_options):
    """Both ends of one connection: (client, server)."""
    provider = fabric.Provider("roce")
    listen = with_free_address("roce://127.0.0.1:0")
    listener = provider.listen(listen)
    url = f"{listen.removesuffix(':0')}:{listener.port}"
    client = provider.connect(url, provider.make_domain(), client_options, wait=False)
    server = listener.wait(WAIT_MS).accept(provider.make_domain(), server_options)
    for each in (client, server):
        wait_for(each, "established")
    return client, server


def wait_for(connection, kind):
    while (notice := connection.wait(WAIT_MS)) is not None:
        if notice.kind == kind:
            return notice
    raise AssertionError(f"no notice of the kind {kind}")


@pytest.fixture
def suites_options():
    return fabric.ConnectionOptions(most_rnr_repetitions=MOST_RNR_REPETITIONS)


def test_the_suite_does_not_repeat_although_the_target_asks_for_it(suites_options):
    client, _ = connected(suites_options, fabric.ConnectionOptions())
    client.send(b"call")
    assert wait_for(client, "closed").reason.detail == ENDED


def test_a_target_does_not_repeat_towards_the_suite(suites_options):
    _, server = connected(suites_options, fabric.ConnectionOptions())
    server.send(b"reply")
    assert wait_for(server, "closed").reason.detail == ENDED


def test_peers_repeat_unless_they_are_asked_not_to():
    client, server = connected(fabric.ConnectionOptions(), fabric.ConnectionOptions())
    client.send(b"call")
    assert server.wait(POLL_MS) is None
    server.post_receive(4)
    assert wait_for(server, "received").bytes == b"call"


def test_connections_of_the_suite_have_these_options():
    link = RdmaLink("roce://127.0.0.1", Profile())
    assert link._helper_settings.options.most_rnr_repetitions == MOST_RNR_REPETITIONS


class Script:
    """Notes why connections end."""

    def __init__(self):
        self.ends = []

    def on_request(self, step):
        pass

    def on_accepted(self, raw):
        pass

    def on_arrival(self, raw, message):
        return False

    def on_departure(self, raw, departure):
        return False

    def on_down(self, raw, reason):
        self.ends.append(reason.detail)


def test_the_suites_server_does_not_repeat_towards_a_client():
    script = Script()
    server = peer.ScriptedServer([with_free_address("roce://127.0.0.1:0")], script)
    provider = fabric.Provider("roce")
    client = provider.connect(server.listening[0], provider.make_domain(), wait=False)
    call = rpc.Call(xid=1, program=100003, version=3, procedure=0).encode()
    sent = False
    for _ in range(MOST_POLLS):
        server.poll(POLL_MS)
        client.wait(POLL_MS)
        if client.open and not sent:
            sent = True
            header = b"".join(word.to_bytes(4, "big") for word in (1, 1, 1, 0, 0, 0, 0))
            client.send(header + call)
        if script.ends:
            break
    server.close()
    assert script.ends == [ENDED]


def test_a_count_beyond_three_bits_is_an_error():
    with pytest.raises(ValueError, match="most_rnr_repetitions is at most 7"):
        fabric.ConnectionOptions(most_rnr_repetitions=8)

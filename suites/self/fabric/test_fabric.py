"""The Python side of the fabric: connections in both roles, memory, faults, observers, life of objects."""

import gc
import threading

import pytest

from steertag import fabric, trace

WAIT_MS = 10000


class Both:
    """Both ends of one connection over loopback, driven by one thread."""

    def __init__(self, private_data=b"", **observers):
        self.provider = fabric.Provider("iwarp", seed=1)
        self.domain = self.provider.make_domain()
        self.server_domain = self.provider.make_domain()
        listener = self.provider.listen("iwarp://127.0.0.1:0")
        self.url = f"iwarp://127.0.0.1:{listener.port}"
        receives = {"receives": 4, "receive_bytes": 256}
        options = fabric.ConnectionOptions(private_data=private_data, **receives)
        self.client = self.provider.connect(self.url, self.domain, options, wait=False, **observers)
        request = listener.wait(WAIT_MS)
        self.request_data = request.private_data
        self.server = request.accept(
            self.server_domain, fabric.ConnectionOptions(private_data=b"server", **receives)
        )
        assert self.next(self.client, "established").private_data == b"server"
        self.next(self.server, "established")

    @staticmethod
    def next(connection, kind):
        """The next notice of this kind; others are skipped."""
        while (notice := connection.wait(WAIT_MS)) is not None:
            if notice.kind == kind:
                return notice
        raise AssertionError(f"no notice of the kind {kind}")


def test_messages_and_private_data():
    both = Both(private_data=b"client")
    assert both.request_data == b"client"
    work_id = both.client.send(b"call")
    assert both.next(both.server, "received").bytes == b"call"
    assert both.next(both.client, "completed").work_id == work_id
    both.server.send(memoryview(b"reply"))
    assert both.next(both.client, "received").bytes == b"reply"


def test_a_seed_decides_what_is_chosen_at_random():
    provider = fabric.Provider("iwarp", seed=1)
    chosen = []
    for seed in (2, 3, 2):
        provider.reseed(seed)
        region = provider.make_domain().allocate(8, fabric.Rights(remote_read=True))
        chosen.append((region.stag, region.base))
        del region
    assert chosen[0] == chosen[2] != chosen[1]


def test_memory():
    both = Both()
    region = both.server_domain.allocate(
        100, fabric.Rights(remote_read=True, remote_write=True), 0x1000
    )
    assert (len(region), region.base, region.valid) == (100, 0x1000, True)
    both.client.rdma_write(b"written", region.stag, region.base + 10)
    sink = both.domain.allocate(7)
    work_id = both.client.rdma_read(sink, 0, 7, region.stag, region.base + 10)
    while both.next(both.client, "completed").work_id != work_id:
        pass
    assert bytes(sink) == b"written"
    assert bytes(region.bytes()[10:17]) == b"written"
    assert region.guards_intact
    both.client.send(b"", invalidate=region.stag)
    assert both.next(both.server, "received").invalidated == region.stag
    assert not region.valid


def test_window_is_closed_by_the_peer():
    both = Both()
    assert both.server.capabilities.windows
    region = both.server_domain.allocate(100)
    before = region.stag
    both.server.open_window(region, fabric.Rights(remote_write=True))
    assert region.valid and region.stag != before
    both.client.rdma_write(b"written", region.stag, region.base)
    both.client.send(b"", invalidate=region.stag)
    assert both.next(both.server, "received").invalidated == region.stag
    assert not region.valid
    assert bytes(region.bytes()[:7]) == b"written"


def test_fault_gives_a_terminate():
    both = Both()
    both.client.send(b"x", fault=fabric.Fault(bad_crc=True))
    reason = both.next(both.client, "closed").reason
    assert reason.code == fabric.ErrorCode.peer_terminated
    assert reason.terminate_from_peer
    assert (reason.terminate.layer, reason.terminate.type, reason.terminate.code) == (2, 0, 2)
    assert both.next(both.server, "closed").reason.code == fabric.ErrorCode.protocol_error
    assert not both.client.open
    with pytest.raises(fabric.FabricError) as raised:
        both.client.send(b"late")
    assert raised.value.code == fabric.ErrorCode.not_connected


def test_observers_live_as_long_as_the_connection():
    recorder = trace.Recorder()
    both = Both(events=recorder)
    both.client.send(b"abc")
    both.next(both.server, "received")
    client = both.client
    del both, recorder
    gc.collect()
    client.abort()
    assert client.wait(WAIT_MS) is not None


def test_events_begin_with_the_connect():
    recorder = trace.Recorder()
    Both(events=recorder, private_data=b"abc")
    assert [event.kind for event in recorder.events()][:2] == ["connect", "accept"]


def test_view_of_a_region_keeps_it():
    provider = fabric.Provider("iwarp")
    view = provider.make_domain().allocate(10).bytes()
    del provider
    gc.collect()
    view[0] = 7
    assert view[0] == 7


def test_refusals_are_told_and_mistakes_raised():
    provider = fabric.Provider("iwarp")
    domain = provider.make_domain()
    listener = provider.listen("iwarp://127.0.0.1:0")
    url = f"iwarp://127.0.0.1:{listener.port}"
    silent = provider.connect(url, domain, startup_timeout_ms=1)
    assert silent.refused_by_time and not silent.open
    listener.wait(0).reject(b"")
    del listener
    refused = provider.connect(url, domain)
    assert refused.refused.code == fabric.ErrorCode.cannot_connect
    assert refused.wait(0).kind == "refused"
    assert "no address" in provider.connect("iwarp://no-such-host.invalid", domain).refusal
    for mistake in ({"mpa_revision": 3}, {"private_data": bytes(600)}, {"ird": 0x4000}):
        with pytest.raises(fabric.FabricError):
            provider.connect(url, domain, fabric.ConnectionOptions(**mistake))
    with pytest.raises(fabric.FabricError):
        provider.connect("nonsense", domain)
    with pytest.raises(fabric.FabricError):
        fabric.Provider("carrier-pigeon")


def test_reject_with_private_data():
    provider = fabric.Provider("iwarp")
    listener = provider.listen("iwarp://127.0.0.1:0")
    url = f"iwarp://127.0.0.1:{listener.port}"
    client = provider.connect(url, provider.make_domain(), wait=False)
    request = listener.wait(WAIT_MS)
    request.reject(b"no")
    notice = client.wait(WAIT_MS)
    assert (notice.kind, notice.private_data) == ("refused", b"no")
    assert notice.reason.code == fabric.ErrorCode.rejected
    with pytest.raises(fabric.FabricError):
        request.reject(b"again")


def test_one_thread_at_a_time():
    provider = fabric.Provider("iwarp")
    listener = provider.listen("iwarp://127.0.0.1:0")
    connection = provider.connect(
        f"iwarp://127.0.0.1:{listener.port}", provider.make_domain(), wait=False
    )
    entered = threading.Event()

    def wait():
        entered.set()
        connection.wait(300)

    waiter = threading.Thread(target=wait)
    waiter.start()
    entered.wait()
    refused = 0
    while waiter.is_alive():
        try:
            provider.make_domain()
        except RuntimeError:
            refused += 1
    waiter.join()
    assert refused > 0
    provider.make_domain()

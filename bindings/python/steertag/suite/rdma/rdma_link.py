"""The link to the target over RDMA: one provider per process, connections with their observers."""

import dataclasses

from ... import conformance, fabric, trace, wire
from ..cases.case_end import NotTestable
from ..cases.transport import RDMA
from ..exchange.callbacks import Callbacks
from ..exchange.case_capture import make_rdma_capture
from ..exchange.deadline import DEVICE_CONNECT_MS
from ..exchange.link import Link
from ..nfs_client.nfs_message import auth_sys, null_version
from .connection import Connection

# The inline threshold that helper connections announce.
HELPER_INLINE = 4096
HELPER_CREDITS = 8
# Octets of the events that are kept of the first connection of a case, and of its octets. Each later
# one has half of those of the one before: a target that floods all connections must not fill memory.
EVENT_OCTETS, CAPTURE_OCTETS = 64 << 20, 16 << 20
LEAST_OCTETS = 256 << 10
# Of a Send that finds no receive, over RoCE: none, so that a side without one loses its connection, as
# over iWARP.
MOST_RNR_REPETITIONS = 0
# A machine may call a target at 127.0.0.1 from any of these.
_LOOPBACK, _ELSEWHERE = "127.", "127.0.0.2"
_ANY_ADDRESS = "a target at 127.0.0.1"
_SOFTWARE = "a target over iwarp:// or roce://"


@dataclasses.dataclass(frozen=True)
class Settings:
    """Parameters of a connection and of its calls."""

    options: fabric.ConnectionOptions
    credits: int
    credential: object = None  # rpc.OpaqueAuth; None: AUTH_NONE


class Watch:
    """The observers of one connection over the provider of this name. Without `capabilities` they see
    every RDMA operation, because our side makes them all. `direct` and
    `layouts`, conformance.DirectAccess and conformance.Layouts, are what the judges of a case share.
    """

    def __init__(self, number, provider, capabilities=None, direct=None, layouts=None):
        self.number = number
        self.recorder = trace.Recorder(limit_bytes=_share(EVENT_OCTETS, number))
        self.sight_lost = False  # a case blinded the judge
        self.seen_events = None  # by the judge, once it is blind
        self.judge = conformance.Judge(
            rdma_operations=capabilities is None or capabilities.sees_remote_operations,
            direct=direct,
            layouts=layouts,
        )
        self.capture = make_rdma_capture(provider, number, _share(CAPTURE_OCTETS, number))
        self.events = trace.Fanout([self.recorder, self.judge])

    def lose_sight(self):
        """The judge gets no further event."""
        if not self.sight_lost:
            self.sight_lost, self.seen_events = True, len(self.recorder.events())
            self.judge.stop_observing()


def _share(octets, number):
    return max(LEAST_OCTETS, octets >> number)


class RdmaLink(Link):
    """Owns the provider, which runs only inside a wait."""

    transport = RDMA

    def __init__(self, url, profile, provider=None):
        """`provider` is that of an earlier link. Another one would want the same UDP port of RoCE."""
        super().__init__(url)
        self.null_version = null_version(profile)
        self._provider_name = name = fabric.parse_url(url).provider
        self.provider = provider or fabric.Provider(name)
        if name != "iwarp":
            self.connect_ms = self.first_contact_ms = DEVICE_CONNECT_MS
        self.thresholds = wire.Negotiated()  # of a connection that announces HELPER_INLINE
        self._profile = profile
        self._helper_settings = _helper_settings(profile)

    def reseed(self, seed):
        """Seeds the steering tags and offsets of a software provider: a server's reaction may
        depend on them."""
        self.provider.reseed(seed)

    def watch(self, number, direct=None, layouts=None):
        """The observers of the connection of a case with this number. `direct` and `layouts` as for Watch."""
        return Watch(number, self._provider_name, self.provider.capabilities, direct, layouts)

    def open(self, settings, watch, timeout_ms):
        """A fabric connection, established or refused, observed by `watch`."""
        return self.provider.connect(
            self.url,
            self.provider.make_domain(),
            settings.options,
            startup_timeout_ms=timeout_ms,
            events=watch.events,
            octets=watch.capture,
        )

    def elsewhere(self):
        """(link, options of a connection) by which another address of this machine calls the target. Where there is none
        the case is not testable."""
        if not fabric.parse_url(self.url).host.startswith(_LOOPBACK):
            raise NotTestable("this machine calls the target from one address", remedy=_ANY_ADDRESS)
        if self.provider.capabilities.chosen_host:
            return self, {"local_host": _ELSEWHERE}
        if self._provider_name != "roce":
            raise NotTestable("a device has one address", remedy=_ANY_ADDRESS)
        # Each provider has an address of its own.
        return RdmaLink(self.url, self._profile, fabric.Provider("roce")), {}

    def alone(self):
        """The same link with a provider of its own, which works only while one of its connections is waited for. Over a
        device, which answers RDMA Reads by itself, the case is not testable."""
        if not self.provider.capabilities.sees_remote_operations:
            raise NotTestable("a device answers RDMA Reads at once", remedy=_SOFTWARE)
        provider = fabric.Provider(self._provider_name)
        made = RdmaLink(self.url, self._profile, provider)
        made.null_version = self.null_version
        return made

    def _plain(self, deadlines, timeout_ms):
        watch = self.watch(0)
        raw = self.open(self._helper_settings, watch, timeout_ms)
        conn = Connection(raw, watch, self._helper_settings, deadlines, self.unique)
        # An unannounced call of the target is no answer here; cases judge it.
        Callbacks(conn)
        return conn

    def _learn(self, conn):
        self.thresholds = conn.negotiated


def _helper_settings(profile):
    """Settings of the helper connections that prepare and probe."""
    data = wire.PrivateData(send_bytes=HELPER_INLINE, receive_bytes=HELPER_INLINE)
    options = fabric.ConnectionOptions(
        private_data=wire.encode(data),
        receives=HELPER_CREDITS,
        receive_bytes=HELPER_INLINE,
        most_rnr_repetitions=MOST_RNR_REPETITIONS,
    )
    return Settings(options, HELPER_CREDITS, auth_sys(profile.uid, profile.gid))

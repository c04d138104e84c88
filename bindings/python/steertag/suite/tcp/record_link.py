"""The link to the target over TCP: streams with record marking (RFC 5531 11)."""

import socket

from ... import fabric
from ..cases.transport import TCP
from ..exchange.case_capture import make_capture, TCP_PORT
from ..exchange.link import Link
from ..nfs_client.nfs_message import auth_sys, null_version
from .record_connection import RecordConnection, Refusal
from .record_journal import RecordJournal
from .stream import Stream


class RecordLink(Link):
    """Opens connections over TCP to one URL."""

    transport = TCP

    def __init__(self, url, profile):
        super().__init__(url)
        self.twin = self
        self.null_version = null_version(profile)
        self._credential = auth_sys(profile.uid, profile.gid)

    def open(self, capture, deadlines, seed, timeout_ms, need=None, local_port=0):
        """A RecordConnection, established or refused. `capture` records its octets. `local_port` is
        ours; 0: any."""
        try:
            stream = Stream(self.url, capture, timeout_ms, local_port)
        except OSError as error:
            sentence = f"{_place(self.url)}: {_sentence(error, timeout_ms)}"
            stream = Refusal(sentence, isinstance(error, socket.timeout))
        return RecordConnection(stream, RecordJournal(), deadlines, seed, self._credential, need)

    def _plain(self, deadlines, timeout_ms):
        return self.open(make_capture(0, TCP_PORT), deadlines, self.unique, timeout_ms)


def tcp_url(host, port):
    """The URL of a place over TCP."""
    return f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"


def _place(url):
    target = fabric.parse_url(url)
    return f"{target.host}:{target.port}"


def _sentence(error, timeout_ms):
    if isinstance(error, socket.timeout):
        return f"no connection within {timeout_ms} ms"
    return error.strerror or str(error)

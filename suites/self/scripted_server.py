"""A small server that answers NULL calls and takes the place of steertag-serve in tests of the harness.

Its few defects are exactly those that the tests are about."""

import argparse
import os
import pathlib
import signal
import sys
import time

import scripted_records
from scripted_records import RecordServer
from steertag import fabric, rpc, wire

RECEIVES, RECEIVE_BYTES, GRANT = 64, 4096, 32
WAIT_MS = 10
SMALL_BYTES = 1024
SLOW_S = 0.3  # of a call that is not NULL; more than a suite waits before it asks again
FLOOD = 32  # messages for each that comes
FOREIGN_STAG = 0x600DF00D  # which no call offers
DIRECT_ACCESS = 0x20020049
DEFECTS = (
    *("wrong-error", "dies", "hangs", "grants-zero", "ends-badly", "floods"),
    *("announces-little", "refuses-the-silent", "executes-slowly", "rests", "lacks-version-4"),
    *("invalidates-foreign", "lacks-direct-access"),
    *scripted_records.DEFECTS,
)


class Died(Exception):
    """The defect "dies"."""


def answer(message, defects):
    """The octets that answer a message, or None."""
    words = wire.peek(message)
    if words is None or len(message) < wire.SMALLEST_HEADER_BYTES:
        return None
    if words.vers != wire.VERSION:
        if "dies" in defects:
            raise Died
        code = wire.ErrorCode.CHUNK if "wrong-error" in defects else wire.ErrorCode.VERS
        return error(words, code)
    try:
        header, payload = wire.decode(message)
    except wire.DecodeError:
        return error(words, wire.ErrorCode.CHUNK)
    if header.proc != wire.Procedure.MSG:
        return None
    call, _ = rpc.Call.decode(payload)
    if call.xid != header.xid:
        return error(words, wire.ErrorCode.CHUNK)
    reply = rpc.Reply(xid=call.xid).encode()
    if "lacks-version-4" in defects and call.version == 4:
        mismatch = rpc.VersionRange(low=2, high=3)
        refused = rpc.AcceptStatus.PROG_MISMATCH
        reply = rpc.Reply(xid=call.xid, accept_status=refused, mismatch=mismatch).encode()
    if "lacks-direct-access" in defects and call.program == DIRECT_ACCESS:
        unknown = rpc.AcceptStatus.PROG_UNAVAIL
        reply = rpc.Reply(xid=call.xid, accept_status=unknown).encode()
    grant = 0 if "grants-zero" in defects else GRANT
    return wire.encode(wire.Header(xid=header.xid, credit=grant), reply)


def is_work(message):
    """Whether it is a call of another procedure than NULL."""
    _, payload = wire.decode(message)
    return rpc.Call.decode(payload)[0].procedure != 0


def error(words, code):
    draft = wire.Draft(xid=words.xid, vers=words.vers, credit=GRANT, error=code)
    draft.proc = wire.Procedure.ERROR
    return wire.encode(draft)


class Server:
    """Serves all connections from one thread."""

    def __init__(self, url, records, defects):
        """`records` is the scripted_records.RecordServer beside it, or None."""
        self.records = records
        self.provider = fabric.Provider("iwarp")
        self.domain = self.provider.make_domain()
        self.listener = self.provider.listen(url)
        self.defects = defects
        self.connections = []
        self.tired = False
        self.held = []  # (when, connection, octets) of answers that take their time
        self.stopped = False

    def serve(self):
        while not self.stopped:
            request = self.listener.wait(0 if self.connections else WAIT_MS)
            if request is not None:
                self.accept(request)
            for connection in list(self.connections):
                self.work(connection)
            if self.records is not None:
                self.records.serve()
            while self.held and self.held[0][0] <= time.monotonic():
                _, connection, octets = self.held.pop(0)
                connection.send(octets)

    def accept(self, request):
        if self.tired:
            self.tired = False
            signal.pause()  # until a signal is handled
        if "refuses-the-silent" in self.defects and not request.private_data:
            request.reject()
            return
        size = SMALL_BYTES if "announces-little" in self.defects else RECEIVE_BYTES
        data = wire.PrivateData(send_bytes=size, receive_bytes=size)
        options = fabric.ConnectionOptions(
            private_data=wire.encode(data), receives=RECEIVES, receive_bytes=RECEIVE_BYTES
        )
        self.connections.append(request.accept(self.domain, options))

    def work(self, connection):
        notice = connection.wait(1)
        if notice is None:
            return
        if notice.kind in ("closed", "refused"):
            self.connections.remove(connection)
        elif notice.kind == "received":
            self.take(connection, notice.bytes)

    def take(self, connection, message):
        words = wire.peek(message)
        if "hangs" in self.defects and words is not None and words.vers != wire.VERSION:
            signal.pause()
        octets = answer(message, self.defects)
        if "executes-slowly" in self.defects and is_work(message):
            self.held.append((time.monotonic() + SLOW_S, connection, octets))
            return
        self.tired = "rests" in self.defects and words is not None and words.vers != wire.VERSION
        if octets is not None:
            foreign = FOREIGN_STAG if "invalidates-foreign" in self.defects else None
            for _ in range(FLOOD if "floods" in self.defects and connection.open else 1):
                connection.send(octets, invalidate=foreign)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", required=True, action="append")
    parser.add_argument("--port-file", type=pathlib.Path, required=True)
    parser.add_argument("--optimistic", action="store_true")  # said to every bundled server
    parser.add_argument("--recoverable-faults", action="store_true")  # likewise
    parser.add_argument("--pnfs")  # likewise
    parser.add_argument("--stripe-unit")  # likewise
    parser.add_argument("--deviate", action="append", default=[], choices=DEFECTS)
    options = parser.parse_args()
    defects = set(options.deviate)
    rdma, *tcp = options.listen
    places = [fabric.parse_url(url) for url in tcp[:1]]
    records = next((RecordServer(each.host, each.port, defects) for each in places), None)
    server = Server(rdma, records, defects)
    signal.signal(signal.SIGTERM, lambda *_: setattr(server, "stopped", True))
    signal.signal(signal.SIGUSR1, lambda *_: None)  # ends a rest
    part = options.port_file.with_suffix(".part")
    ports = [server.listener.port, *([records.port] if records else [])]
    part.write_text("".join(f"{port}\n" for port in ports))
    part.rename(options.port_file)
    try:
        server.serve()
    except Died:
        os._exit(3)
    return 23 if "ends-badly" in options.deviate else 0


if __name__ == "__main__":
    sys.exit(main())

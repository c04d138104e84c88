"""The reference server with extremes in what it sends; it takes the place of steertag-serve.

`--turns START EVERY` sets each word in turn, `--steady WORD NUMBER` the same one in every message; see extremes.py.
The replies to NULL calls of the suite's helper are left alone: without them no case begins. So are replies to its other
calls, which prepare cases, unless `--helper-too` is given."""

import argparse
import pathlib
import signal
import sys

import hostile_records
from extremes import Steady, Turns
from steertag import fabric, peer, wire
from steertag.suite.client.script import procedure_of
from steertag.suite.rdma.rdma_link import HELPER_CREDITS

POLL_MS = 20
ANNOUNCED = wire.PrivateData(remote_invalidation=True, send_bytes=4096, receive_bytes=4096)


class Interposer:
    """Posts what the server was about to send, bent."""

    def __init__(self, extremes, spares_helper):
        self._extremes, self._spares_helper = extremes, spares_helper

    def on_request(self, step):
        step.private_data = self._extremes.bent("private data", wire.encode(ANNOUNCED))

    def on_accepted(self, raw):
        """Nothing is due."""

    def on_arrival(self, raw, message):
        return False

    def on_departure(self, raw, departure):
        if self._is_spared(departure):
            return False
        kind = departure.kind, procedure_of(departure.rpc_call)
        try:
            for write in departure.writes:
                raw.write(write.octets, write.stag, write.offset)
            octets = self._extremes.bent(kind, bytes(departure.message))
            raw.send(octets, invalidate=departure.invalidate)
        except fabric.FabricError:
            raw.abort()
        return True

    def _is_spared(self, departure):
        call = departure.call
        if call is None or call.credit != HELPER_CREDITS:
            return False
        return self._spares_helper or (procedure_of(departure.rpc_call) or (0, 0, 0))[2] == 0

    def on_read(self, raw, number, octets):
        """Nothing is due."""

    def on_down(self, raw, reason):
        """Nothing is due."""


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", required=True, action="append")
    parser.add_argument("--port-file", type=pathlib.Path, required=True)
    parser.add_argument("--optimistic", action="store_true")  # said to every bundled server
    parser.add_argument("--recoverable-faults", action="store_true")  # likewise
    parser.add_argument("--pnfs")  # likewise
    parser.add_argument("--stripe-unit")  # likewise
    parser.add_argument("--turns", type=int, nargs=2, default=(0, 1))
    parser.add_argument("--steady", type=int, nargs=2)
    parser.add_argument("--helper-too", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    extremes = Steady(*options.steady) if options.steady else Turns(*options.turns)
    rdma, tcp = options.listen
    interposer = Interposer(extremes, not options.helper_too)
    server = peer.ScriptedServer([rdma, "tcp://127.0.0.1:0"], interposer)
    places = [fabric.parse_url(url) for url in (*server.listening, tcp)]
    records = hostile_records.Proxy((places[2].host, places[2].port), places[1].port, extremes)
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    part = options.port_file.with_suffix(".part")
    part.write_text(f"{places[0].port}\n{records.port}\n")
    part.rename(options.port_file)
    while not stopped:
        server.poll(0 if records.serve() else POLL_MS)
    server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Links of one rate: each port of the servers has one, in both directions.

All ports are at one address, behind one veth pair. A class of HTB at either end is the link of a port, whose packets the
address does not tell apart.
"""

from ci.jobs.bench_nfs.namespaces import run

ROOT = 1  # the qdisc's handle
# What a class may send at once: TCP hands over 64 KiB in one piece.
BURST = "64kb"
TCP_PROTOCOL = 6


class ShapedLinks:
    """Of the interface `name` in this namespace (`dport`) and of its peer in the servers' (`sport`)."""

    def __init__(self, place, name, rate_mbit):
        self._ends = (((), "dport"), (place.enter, "sport"))
        self._name, self._rate = name, f"{rate_mbit}mbit"
        self._links = 0
        for enter, _ in self._ends:
            self._tc(enter, "qdisc", "root", "handle", f"{ROOT}:", "htb")

    def add(self, port):
        """What comes from this port of a server, or goes there, has a link of its own from now on."""
        self._links += 1
        link = f"{ROOT}:{self._links:x}"
        rate = ("htb", "rate", self._rate, "burst", BURST, "cburst", BURST)
        for enter, field in self._ends:
            self._tc(enter, "class", "parent", f"{ROOT}:", "classid", link, *rate)
            match = ("match", "ip", "protocol", TCP_PROTOCOL, "0xff")
            match += ("match", "ip", field, port, "0xffff")
            where = ("parent", f"{ROOT}:", "protocol", "ip", "prio", 1)
            self._tc(enter, "filter", *where, "u32", *match, "flowid", link)

    def _tc(self, enter, kind, *words):
        run(*enter, "tc", kind, "add", "dev", self._name, *words)

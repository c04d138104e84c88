#!/usr/bin/env python3
"""A client whose every call is bent: `bent_client.py VARIANT URL`. VARIANT is a name of steertag.mutate, or `none`: the
call is legal, and the only one. `no-arguments`: it is GETATTR without a handle."""

import sys

from steertag import fabric, mutate, rpc, wire

ANSWER_MS = 2000
GETATTR = 1
ENDS = ("received", "closed", "refused")


def null_call(procedure=0):
    """A legal NULL call as a draft, or a call of another procedure of NFSv3 without arguments."""
    payload = rpc.Call(xid=1, program=100003, version=3, procedure=procedure).encode()
    return wire.Draft(xid=1, credit=1, payload=payload)


def main(name, url):
    octets = wire.encode(null_call(GETATTR if name == "no-arguments" else 0))
    if name not in ("none", "no-arguments"):
        bent = mutate.generate_all(null_call())
        octets = next(bytes(each) for each in bent if each.name == name)
    provider = fabric.Provider("iwarp")
    options = fabric.ConnectionOptions(receives=1, receive_bytes=1024)
    conn = provider.connect(url, provider.make_domain(), options)
    conn.send(octets)
    notice = conn.wait(ANSWER_MS)
    while notice is not None and notice.kind not in ENDS:
        notice = conn.wait(ANSWER_MS)
    sys.exit("bent client: that was all")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The write verifier of version 3 is one for the whole server, whatever connection it is asked on (RFC 1813 3.3.7,
3.3.21)."""

import pytest

from steertag.suite import ANY, case, expect, kinds

SAME = "RFC1813-3.3.7-1"
UNSTABLE = 0
# What comes behind the first WRITE: whether its connection ends, and the transport of the next one.
NEXT = {"beside": (False, False), "behind": (True, False), "tcp": (False, True)}


def verifier_of(conn, procedure, **fields):
    """(Outcome, verf) of a call that succeeds."""
    outcome = expect(conn.exchange(conn.nfs_call(procedure, **fields)), SAME, must=[kinds.REPLY])
    return outcome, bytes(outcome.result.ok.verf)


@case("server.write-verifier.{name}", requirements=[SAME], over=ANY)
@pytest.mark.parametrize("name", NEXT)
def test_verifier(bench, name):
    """UNSTABLE WRITEs over two connections, and a COMMIT over the second one, have one verifier. A client takes
    another one for a restart, and writes all again."""
    ends, over_tcp = NEXT[name]
    if over_tcp:
        bench.need("tcp")
    handle = bench.file()
    octet = {"file": handle, "offset": 0, "count": 1, "stable": UNSTABLE, "data": b"x"}
    conn = bench.connect()
    _, first = verifier_of(conn, "WRITE", **octet)
    if ends:
        conn.abort()
    conn = bench.connect_tcp() if over_tcp else bench.connect()
    for procedure, fields in (
        ("WRITE", octet),
        ("COMMIT", {"file": handle, "offset": 0, "count": 0}),
    ):
        outcome, verifier = verifier_of(conn, procedure, **fields)
        what = f"verf of {procedure} over the second connection"
        expect.equal(verifier, first, SAME, what, show=False, outcome=outcome)

"""Judges a server's replies in its author's own unit test: no connection is needed."""

import struct

from steertag import conformance
from steertag.trace import Role

XID = 7


def message(*words):
    """A Send of these words: the transport header (RFC 8166 4.2), then the RPC message."""
    return struct.pack(f">{len(words)}I", *words)


def null_call():
    """NFSv3's NULL, which asks for 32 credits."""
    return message(XID, 1, 32, 0, 0, 0, 0, XID, 0, 2, 100003, 3, 0, 0, 0, 0, 0)


def null_reply(xid, credit):
    """Call your encoder here."""
    return message(xid, 1, credit, 0, 0, 0, 0, xid, 1, 0, 0, 0, 0)


def judge(name, reply):
    """Passes the events of a connection to a judge, and prints what it finds."""
    judge = conformance.Judge()
    judge.connect()
    judge.accept()
    judge.send(Role.client, null_call())
    judge.send(Role.server, reply)
    print(f"findings in {name}: {len(judge.findings)}")
    for finding in judge.findings:
        clause = finding.requirement
        print(f"  {clause.document} {clause.section} ({clause.level}): {clause.statement}")
        print(f"    expected {finding.expected}; observed {finding.observed}")


if __name__ == "__main__":
    judge("a correct reply", null_reply(XID, 32))
    judge("a reply without credits", null_reply(XID, 0))
    judge("a reply to another call", null_reply(XID + 1, 32))

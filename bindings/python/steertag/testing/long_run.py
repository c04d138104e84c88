"""The report.json of a run that never was: as many cases as asked for, with traces like those of real ones."""

import random

GRANT, COPY = "RFC8166-3.3.1-5", "RFC8166-4.2.1-1"
# A connection's setup and seven READs: about as many lines as a failure shows at most.
LINES = 2 + 7 * 3
TOPICS = ("header", "credit", "write-chunk", "long-call", "backchannel")


def document(failing, passing=0, seed=1):
    """The content of report.json. Each failing case breaks GRANT; each fifth breaks COPY in place of it."""
    numbers = random.Random(seed)
    cases = [_failing(number, numbers) for number in range(failing)]
    cases += [_passing(number) for number in range(passing)]
    return {
        "steertag": "0.1.0",
        "target": "iwarp://192.0.2.1/export",
        "totals": {"pass": passing, "fail": failing},
        "run_seed": 7,
        "run": {
            "started": "2026-11-25T10:20:30+00:00",
            "seconds": 30.72,
            "host": "tester",
            "system": "Linux 6.1.0 x86_64",
            "command": "pytest suites/server --target iwarp://192.0.2.1/export",
            "seed": 0,
            "versions": {"steertag": "0.1.0", "python": "3.11.2", "pytest": "7.2.1"},
        },
        "clauses": {name: f"RFC 8166 {name.split('-')[1]} (MUST): words" for name in (GRANT, COPY)},
        "cases": cases,
    }


def _case(number, word, verdict):
    topic = TOPICS[number % len(TOPICS)]
    return {
        "id": f"server.{topic}.{word}-{number}",
        "verdict": verdict,
        "reason": "",
        "findings": [],
        "requirements": [GRANT, COPY],
        "seconds": 0.01,
        "capture": None,
        "replay": None,
        "judged": [],
        "cause": None,
        "sentence": f"Case {number} on {topic} does what it says.",
    }


def _passing(number):
    return _case(number, "passes", "pass")


def _failing(number, numbers):
    requirement = COPY if number % 5 == 4 else GRANT
    rule = "grant is at least 1" if requirement == GRANT else "the XID is copied"
    xid = numbers.getrandbits(32)
    seen = f"rdma_credit 0 in the answer with rdma_xid 0x{xid:08x}"
    case = _case(number, "fails", "fail")
    place = f"{case['id']}"
    return case | {
        "reason": f"{requirement}: {rule}",
        "findings": [{"id": requirement, "text": f"event 4: expected a grant; observed {seen}"}],
        "capture": f"captures/{place}.pcapng",
        "replay": f"failures/{place}.steertag",
        "trace": list(_trace(requirement, seen, numbers)),
        "cause": {
            "kind": "rule",
            "requirement": requirement,
            "rule": rule,
            "text": seen,
            "expected": "a grant of at least 1",
            "connection": 0,
            "event": 4,
            "trace": [],
            "follows": [],
        },
    }


def _trace(requirement, seen, numbers):
    """A connection's setup, then READs with a write chunk each; the first reply breaks the requirement."""
    yield _line(0, "->", "connect", "Connect announces send 4096 receive 4096, remote invalidation")
    yield _line(1, "<-", "accept", "Accept announces send 4096 receive 4096")
    for place in range(2, LINES, 3):
        chunk = _chunk(numbers)
        xid = f"xid 0x{chunk['xid']:08x}"
        offers = "write chunk 1: 1 segment of 4096 octets"
        call = "CALL NFSv3 READ fh #0c49a303 offset 0 count 4096"
        yield _line(
            place, "->", "send", f"RDMA_MSG {xid} credits 32; {offers}; {call}", chunks=[chunk]
        )
        write = f"RDMA Write of 4096 octets into write chunk 1 of {xid}, segment 1 offset 0"
        yield _line(place + 1, "<-", "rdma_write", write, chunks=[chunk])
        broken = [{"event": 4, "requirement": requirement, "text": seen, "by_target": True}]
        reply = f"RDMA_MSG {xid} credits 0; {offers}; REPLY NFSv3 READ NFS3_OK count 4096 eof"
        marks = {"violations": broken} if place == 2 else {}
        yield _line(place + 2, "<-", "send", reply, chunks=[chunk], **marks)


def _chunk(numbers):
    return {
        "kind": "write",
        "xid": numbers.getrandbits(32),
        "chunk": 1,
        "segment": 1,
        "handle": numbers.getrandbits(32),
        "offset": numbers.getrandbits(63),
        "length": 4096,
        "position": None,
    }


def _line(number, direction, kind, text, **more):
    line = {"number": number, "connection": 1, "time_s": round(number * 0.000123, 6)}
    return line | {"direction": direction, "kind": kind, "text": text} | more

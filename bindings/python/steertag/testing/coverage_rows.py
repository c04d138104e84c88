"""Rows of a matrix of requirements for tests, with the types of a ledger, a suite and a peer."""

import dataclasses
import types

from steertag.coverage import matrix
from steertag.suite.cases.collection import CaseEntry


@dataclasses.dataclass(frozen=True)
class Exemption:
    kind: str
    why: str = "for a reason"
    role: str = ""
    by: tuple = ()


def entry(id="RFC8166-1-1", role="both", level="MUST", exemption=None, unbroken=(), **changes):
    """A row of the ledger."""
    fields = {
        "id": id,
        "document": id.split("-")[0],
        "section": id.split("-")[1],
        "level": level,
        "role": role,
        "subject": "header",
        "statement": "A <peer> does & does.",
        "observable": "It does not.",
        "test": "POS: look.",
        "note": "",
        "exemption": exemption,
        "unbroken": dict(unbroken),
    }
    return types.SimpleNamespace(**fields | changes)


def case(id, *named, unbroken="", unfailed=()):
    return CaseEntry(id, named, (), "safe", (), f"test_it.py::{id}", "", unbroken, dict(unfailed))


def deviation(name, sentence="It does not.", requirement="RFC8166-1-1", also=(), side="server"):
    """A deviation, as in steertag.peer."""
    fields = {"name": name, "sentence": sentence, "requirement": requirement}
    return types.SimpleNamespace(**fields, also=also, side=side)


def build(entries, cases=(), deviations=(), **results):
    return matrix.build(list(entries), list(cases), list(deviations), **results)


SERVER_CASE = case("server.a.b", "RFC8166-1-1")
CLIENT_CASE = case("client.a.b", "RFC8166-1-1")

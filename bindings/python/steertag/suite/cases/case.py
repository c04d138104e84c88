"""The decorator that makes a function a case, and the registry of all cases."""

import dataclasses
import re
import types

import pytest

from ... import requirements as ledger
from ..client.client_needs import ANY_NEEDS, CLIENT_NEEDS
from .needs import NEEDS, RDMA_NEEDS
from .transport import ANY, binds, RDMA, TCP

_ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+|[.-]?\{[a-z_.]+\})*")
_FINISHED_ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)+")
_REQUIREMENT = re.compile(r"(?:RFC\d{4}|IBA)-[0-9A-Z.]+-\d+|ODAFS-\d+")
RISKS = ("safe", "destructive")
# The side that a case tests, and the needs that it may name.
ROLES = {"server": NEEDS, "client": CLIENT_NEEDS}


def role_of(case_id):
    """The side that a case with this id tests."""
    return "client" if case_id.startswith("client.") else "server"


@dataclasses.dataclass(frozen=True)
class Case:
    """The declaration of a case. `id` may hold `{name}` fields, which parametrize fills."""

    id: str
    requirements: tuple
    needs: tuple
    risk: str
    hostile: bool
    tolerates: dict
    bugs: tuple
    over: tuple = (RDMA,)

    @property
    def role(self):
        """The side that the case tests."""
        return role_of(self.id)

    def id_for(self, parameters):
        """The permanent id of one variant."""
        try:
            text = self.id.format(**parameters)
        except (KeyError, AttributeError, IndexError) as error:
            raise ValueError(f"case id {self.id!r} names {error}, which is no parameter") from None
        if not _FINISHED_ID.fullmatch(text):
            raise ValueError(f"case id {text!r} is not lower-case words joined by dots and hyphens")
        return text


@dataclasses.dataclass(frozen=True)
class Unbroken:
    """Why no deviation of our own server or client makes a case fail.

    `reason`: why it claims no requirement that a deviation breaks. `unfailed`: {finished id: why no
    deviation makes this variant fail, although it claims a broken requirement}.
    """

    reason: str = ""
    unfailed: dict = dataclasses.field(default_factory=dict)


def case(
    id,
    requirements,
    needs=(),
    risk="safe",
    hostile=False,
    tolerates=None,
    bugs=(),
    over=RDMA,
    unbroken="",
    unfailed=None,
):
    """Declares a case.

    - `id`: permanent, lower case, dotted: "server.header.version-zero". A parametrised case names its
      parameters: "server.truncation.{name}".
    - `requirements`: ids of the ledger that the case asserts; `expect` accepts no others. Collection
      checks that every requirement id in the function is declared and known.
    - `needs`: needs of the target or provider, from `steertag.suite.cases.needs.NEEDS`. nfs3 and export are
      implied.
    - `risk`: "safe" or "destructive". A destructive case may take a server down or exhaust it. It runs
      against third parties only with --allow-destructive.
    - `hostile`: True if our own client breaks rules on purpose; findings against it are ignored. False: such
      a finding is a harness-error.
    - `tolerates`: {requirement id: why}, findings of the judge that do not fail this case.
    - `bugs`: ids of known field defects that this case would have caught.
    - `over`: the RPC transports with the same meaning: RDMA, or ANY for a case on RPC and NFS only. Over
      TCP it asserts the rows that bind there; see transport.binds.
    - `unbroken`: why no deviation of our own peers breaks a requirement of the case. `steertag coverage
      --strict` demands it, and refuses it once a deviation does.
    - `unfailed`: {finished id: why}, variants that no deviation makes fail, by `steertag mutation --whole`,
      although a deviation breaks a requirement of the case.

    A case whose id begins with "client." tests clients: its fixture `bench` is a
    client_bench.ClientBench, and its needs are of suite.client.client_needs.
    """
    tolerated = dict(tolerates or {})
    over = (over,) if isinstance(over, str) else tuple(over)
    made = Case(id, tuple(requirements), tuple(needs), risk, hostile, tolerated, tuple(bugs), over)
    _check(made)
    reasons = Unbroken(unbroken, dict(unfailed or {}))
    _check_unbroken(made, reasons)

    def decorate(function):
        for named in sorted(_requirement_ids(function.__code__)):
            ledger.find(named)
            if named not in made.requirements:
                raise ValueError(f"case {id!r} uses {named} but does not declare it")
        return pytest.mark.steertag_case(made, reasons)(function)

    return decorate


def _check(made):
    if not _ID.fullmatch(made.id):
        raise ValueError(f"case id {made.id!r} is not lower-case words joined by dots and hyphens")
    if not made.requirements:
        raise ValueError(f"case {made.id!r} names no requirement")
    if made.risk not in RISKS:
        raise ValueError(f"case {made.id!r}: risk is one of {', '.join(RISKS)}")
    known = ROLES[made.role]
    for need in made.needs:
        if need not in known:
            raise ValueError(f"case {made.id!r}: unknown need {need!r}; known: {', '.join(known)}")
    for requirement_id in (*made.requirements, *made.tolerates):
        ledger.find(requirement_id)
    _check_over(made)


def _check_unbroken(made, reasons):
    for why in (reasons.reason, *reasons.unfailed.values()):
        if not isinstance(why, str) or (why != "" and not why.strip()):
            raise ValueError(f"case {made.id!r}: what no deviation breaks is said in a sentence")
    if not all(reasons.unfailed.values()):
        raise ValueError(f"case {made.id!r}: a variant in `unfailed` has no reason")


def _check_over(made):
    if not made.over or not set(made.over) <= set(ANY):
        raise ValueError(f"case {made.id!r}: over is of {', '.join(ANY)}")
    if TCP not in made.over:
        return
    if not any(binds(requirement_id, TCP) for requirement_id in made.requirements):
        raise ValueError(f"case {made.id!r} names no requirement that binds over TCP")
    of_rdma = RDMA_NEEDS if made.role == "server" else set(CLIENT_NEEDS) - set(ANY_NEEDS)
    for need in set(made.needs) & set(of_rdma):
        raise ValueError(f"case {made.id!r}: {need} means nothing over TCP")


def _requirement_ids(code):
    """Requirement ids among the constants of a function and of its inner functions."""
    for constant in code.co_consts:
        members = constant if isinstance(constant, (tuple, frozenset)) else (constant,)
        for member in members:
            if isinstance(member, str) and _REQUIREMENT.fullmatch(member):
                yield member
            elif isinstance(member, types.CodeType):
                yield from _requirement_ids(member)


def restored(fields):
    """The Case with these fields. Its id is finished. Raises ValueError or TypeError."""
    made = Case(**fields)
    if not isinstance(made.id, str) or not _FINISHED_ID.fullmatch(made.id):
        raise ValueError(f"case id {made.id!r} is not lower-case words joined by dots and hyphens")
    return made


def case_of(item):
    """The (Case, id) of a collected pytest item, or None for an ordinary test."""
    mark = item.get_closest_marker("steertag_case")
    if mark is None:
        return None
    made = mark.args[0]
    callspec = getattr(item, "callspec", None)
    return made, made.id_for(callspec.params if callspec else {})


def unbroken_of(item):
    """The Unbroken of a collected pytest item that is a case."""
    return item.get_closest_marker("steertag_case").args[1]

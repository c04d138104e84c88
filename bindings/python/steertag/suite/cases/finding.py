"""A finding of a connection's observers, in the form that the verdict needs."""

import dataclasses

from ... import trace


@dataclasses.dataclass(frozen=True)
class CaseFinding:
    """What the judge, or the memory oracle, has against one side of a connection."""

    id: str
    rule: str  # name of the judge's rule, stable
    event: int
    expected: str
    observed: str
    by_target: bool


def of_judge(one, target=trace.Role.server):
    """From a conformance.Finding; `target` is the side under test."""
    by_target = one.culprit == target
    return CaseFinding(
        one.requirement.id, one.rule, one.event, one.expected, one.observed, by_target
    )


def of_oracle(requirement_id, text, event):
    """From a row of the memory oracle; `event` is where the connection was by then."""
    expected = "memory of the requester is used only as the call offers it"
    return CaseFinding(requirement_id, "memory oracle", event, expected, text, True)

"""A finding of a connection's observers, in the form for the verdict."""

import dataclasses

from ... import trace


@dataclasses.dataclass(frozen=True)
class CaseFinding:
    """A violation by one side of a connection, from the judge or the memory oracle."""

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
    """From a row of the memory oracle; `event` is the connection's last event by then."""
    expected = "memory of the requester is used only as the call offers it"
    return CaseFinding(requirement_id, "memory oracle", event, expected, text, True)

"""A finding by what a live run and a capture of the same connection have in common."""

import dataclasses
import re

# Rules on what only the side that owns it knows: receives that it posted, octets beside its memory. No
# capture holds that.
OWN_KNOWLEDGE = {
    "receives_cover_calls",
    "receives_cover_grant",
    "receive_takes_1024_octets",
    "receive_is_as_announced",
    "guards_stay_intact",
}
# Texts name events by their index in a live run and by their packet in a capture. Connections that carry nothing are in
# no capture.
_INDEX = re.compile(r"\b(?:event|frame) \d+(?: of connection \d+)?")


@dataclasses.dataclass(frozen=True, order=True)
class Found:
    """The finding and its event: the `number`th of its `kind` by the `actor`."""

    id: str
    rule: str
    culprit: str
    actor: str
    kind: str
    number: int
    expected: str
    observed: str

    def __str__(self):
        return (
            f"{self.id} ({self.rule}) by the {self.culprit} at {self.kind} {self.number} of the "
            f"{self.actor}: {self.observed}"
        )


def _found(ids, event, texts):
    return Found(*ids, *event, *(_INDEX.sub("N", text) for text in texts))


def live(row):
    """What a row of `judged` in report.json has, in its order, and how many findings a capture cannot show."""
    found = [
        _found(
            (each["id"], each["rule"], each["culprit"]),
            (each.get("actor", "?"), each.get("kind", "?"), each.get("number", 0)),
            (each["expected"], each["observed"]),
        )
        for each in row["findings"]
        if each["rule"] not in OWN_KNOWLEDGE
    ]
    return found, len(row["findings"]) - len(found)


def graded(rows):
    """What `steertag grade` found, in its order."""
    return [
        _found(
            (row.requirement.id, row.rule, row.culprit),
            (row.event[0].name, *row.event[1:]),
            (row.expected, row.observed),
        )
        for row in rows
    ]

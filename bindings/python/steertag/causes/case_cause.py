"""The cause of one case that went wrong, as report.json has it."""

import dataclasses

from ..json_file import text as checked_text
from .cause_key import normalised, split_reason

# Words of `kind`. A rule of the judge or of the memory oracle was broken. Our provider refused what came.
# The case itself judged. The peer under test died. The suite has a defect.
RULE, REFUSED, JUDGED, CRASH, HARNESS = "rule", "refused", "judged", "crash", "harness"
KINDS = (RULE, REFUSED, JUDGED, CRASH, HARNESS)
# Begins the text where the case did not even start.
PREPARING = "preparing the case: "
# How a use of a client ends that does not complete (steertag.suite.client.client_kinds).
ENDS = ("refused", "corrupted", "hang", "left")


@dataclasses.dataclass(frozen=True)
class CaseCause:
    """`text` is what was seen, with its values. `rule` is the judge's name of the rule. `follows` has the
    requirements that the case found broken after the cause, each once. `trace` are lines around the event
    `event` of the connection `connection`; both are None where no event is to blame."""

    kind: str
    requirement: str = ""
    rule: str = ""
    text: str = ""
    expected: str = ""
    connection: int | None = None
    event: int | None = None
    trace: tuple = ()
    follows: tuple = ()

    @property
    def is_of_preparation(self):
        """Whether the target failed what comes before the case: most often a consequence."""
        return self.kind == JUDGED and self.text.startswith(PREPARING)

    @property
    def is_of_end(self):
        """Whether nothing shows but how the use of a client has ended: most often a consequence."""
        return self.kind == JUDGED and self.text in ENDS

    @property
    def key(self):
        """Equal for cases of one cause."""
        if self.kind == RULE:
            return self.kind, self.requirement, self.rule
        return self.kind, self.requirement, normalised(self.text)

    @classmethod
    def of(cls, entry):
        """From the `cause` of a case in report.json. Raises KeyError, TypeError or ValueError."""
        if entry["kind"] not in KINDS:
            raise ValueError(f"the kind {entry['kind']} of a cause is unknown")
        words = ("kind", "requirement", "rule", "text", "expected")
        lists = {name: tuple(map(checked_text, entry[name])) for name in ("trace", "follows")}
        places = {name: entry[name] for name in ("connection", "event")}
        if any(type(place) not in (int, type(None)) for place in places.values()):
            raise TypeError("the place of a cause is not a number")
        return cls(**{name: checked_text(entry[name]) for name in words}, **places, **lists)

    @classmethod
    def of_reason(cls, verdict, reason):
        """From a report that has no causes."""
        requirement, rest = split_reason(reason)
        kind = {"crash": CRASH, "harness-error": HARNESS}.get(verdict, JUDGED)
        return cls(kind, requirement, text=rest)

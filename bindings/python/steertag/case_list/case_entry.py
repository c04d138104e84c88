"""One case (one variant of a parametrised one) as collected."""

import dataclasses
import re

_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")


@dataclasses.dataclass(frozen=True)
class CaseEntry:
    """`summary` is the first paragraph of the case's docstring, on one line."""

    id: str
    requirements: tuple
    needs: tuple
    risk: str
    bugs: tuple
    nodeid: str
    path: str = ""  # of its file, absolute
    unbroken: str = ""  # why no deviation breaks a requirement of it
    unfailed: dict = dataclasses.field(
        default_factory=dict
    )  # {finished id: why none makes it fail}
    summary: str = ""

    @property
    def topic(self):
        """The second word of the id: "header" of "server.header.version-zero"."""
        return topic_of(self.id)

    @property
    def sentence(self):
        """The first sentence of the summary."""
        return first_sentence(self.summary)


def topic_of(case_id):
    """The topic of a case by its id; "" if the id has only one word."""
    return (case_id.split(".") + [""])[1]


def first_sentence(summary):
    """The first sentence of a paragraph on one line."""
    return _SENTENCE_END.split(summary, 1)[0]


def first_paragraph(docstring):
    """The first paragraph of a docstring on one line; "" without one."""
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())


def restored(fields):
    """The CaseEntry of `dataclasses.asdict`, after a way through JSON."""
    tuples = {name: tuple(fields[name]) for name in ("requirements", "needs", "bugs")}
    return CaseEntry(**{**fields, **tuples})

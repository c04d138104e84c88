"""Which cases a command line asks for: by id, section, requirement and topic."""

import dataclasses

from .. import ledger_places
from ..suggestions import did_you_mean
from .case_entry import topic_of


class NoSuchCases(Exception):
    """No case can be meant; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class CaseSelection:
    """Of several values of a kind, any; of several kinds, all have to fit. Without a value of any kind all
    cases are asked for. Requirements hold ids of the ledger; places are of `ledger_places`."""

    ids: tuple = ()
    places: tuple = ()
    requirements: tuple = ()
    topics: tuple = ()

    def __bool__(self):
        return any((self.ids, self.places, self.requirements, self.topics))

    def takes(self, case_id, requirement_ids):
        """Whether it asks for a case with this id, which asserts these requirements."""
        if self.ids and case_id not in self.ids:
            return False
        if self.topics and not _topics_of(case_id) & set(self.topics):
            return False
        if self.requirements and not set(self.requirements) & set(requirement_ids):
            return False
        rows = map(ledger_places.requirement_named, requirement_ids if self.places else ())
        return not self.places or any(place.holds(row) for row in rows for place in self.places)


def selection_of(cases, ids=(), sections=(), requirements=(), topics=()):
    """The CaseSelection of words of a command line among the cases, {id: [requirement id]}. Letters' case
    does not count. Raises NoSuchCases for a word that names nothing, with the nearest ones."""
    topics_known = set().union(*map(_topics_of, cases))
    try:
        return CaseSelection(
            tuple(_known("--case", each, cases, "case here has this id") for each in ids),
            tuple(map(ledger_places.place_named, sections)),
            tuple(ledger_places.requirement_named(each).id for each in requirements),
            tuple(
                _known("--topic", each, topics_known, "case here is about it") for each in topics
            ),
        )
    except ledger_places.UnknownPlace as error:
        raise NoSuchCases(str(error)) from None


def _topics_of(case_id):
    """The words by which --topic takes a case: "header", and "server.header"."""
    topic = topic_of(case_id)
    return {topic, f"{case_id.partition('.')[0]}.{topic}"} if topic else set()


def _known(option, word, known, missing):
    if word.lower() in known:
        return word.lower()
    raise NoSuchCases(f"{option} {word}: no {missing}{did_you_mean(word, known)}")

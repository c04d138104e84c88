"""Places of the ledger as people write them: a requirement, a section with its subsections, a document."""

import dataclasses
import functools
import re

from . import requirements as ledger
from .suggestions import did_you_mean

# "RFC8166", "RFC8166-4.5", "rfc 8166 section 4.5", "RFC 8166 4.5", "IBA-9.7".
_PLACE = re.compile(
    r"([A-Z]+)\s*(\d{4}|)(?:[\s-]+(?:section\s+)?([0-9A-Z]+(?:\.[0-9A-Z]+)*))?", re.IGNORECASE
)


class UnknownPlace(LookupError):
    """The ledger has no such row, section or document; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Place:
    """A section, or a whole document if `section` is ""."""

    document: str
    section: str = ""

    def __str__(self):
        return f"{self.document}-{self.section}" if self.section else self.document

    def holds(self, requirement):
        """Whether a row of the ledger stands in the section or below it."""
        if requirement.document != self.document:
            return False
        return not self.section or f"{requirement.section}.".startswith(f"{self.section}.")


def requirement_named(text):
    """The row with this id, in any case of letters. Raises UnknownPlace."""
    found = _by_id().get(text.strip().upper())
    if found is None:
        near = did_you_mean(text, _by_id())
        raise UnknownPlace(f"{text} is not in the ledger{near}")
    return found


def place_named(text):
    """The Place of a section or document. Raises UnknownPlace, also if no row stands there."""
    match = _PLACE.fullmatch(text.strip())
    if match is not None:
        place = Place(f"{match[1]}{match[2]}".upper(), (match[3] or "").upper())
        if any(place.holds(row) for row in _by_id().values()):
            return place
    raise UnknownPlace(
        f"{text} is no section or document of the ledger{did_you_mean(text, place_names())}"
    )


def rows_in(place):
    """The rows of a Place in reading order."""
    return sorted(filter(place.holds, _by_id().values()), key=ledger.reading_order)


def place_names():
    """The names of all documents and sections with rows, sorted."""
    rows = _by_id().values()
    return sorted({row.document for row in rows} | {str(place_of(row)) for row in rows})


def place_of(requirement):
    """The Place of the section that a row stands in; of a document without sections the document."""
    return Place(requirement.document, requirement.section)


def requirement_names():
    """The ids of all rows, sorted."""
    return sorted(row.id for row in _by_id().values())


@functools.lru_cache(maxsize=1)
def _by_id():
    return {row.id.upper(): row for row in ledger.ledger.requirements()}

"""Looks requirements up in the ledger, for people and for cases."""

from . import ledger


class UnknownRequirement(LookupError):
    """An id that the ledger does not hold."""


def find(requirement_id):
    """The requirement with this id. Fields: id, document, section, level, role, subject, statement,
    observable, test. Raises UnknownRequirement."""
    found = ledger.find(requirement_id)
    if found is None:
        raise UnknownRequirement(f"{requirement_id} is not in the ledger")
    return found


def level(requirement):
    """The RFC 2119 word of the requirement in capitals: "MUST NOT", or "DEF"."""
    value = requirement.level
    word = value if isinstance(value, str) else value.name
    return word.replace("_", " ").upper()


def citation(requirement_id):
    """ "RFC 8166 section 4.5.1 (MUST): A header version ..." """
    entry = find(requirement_id)
    document = entry.document.replace("RFC", "RFC ")
    return f"{document} section {entry.section} ({level(entry)}): {entry.statement}"

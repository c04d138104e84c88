"""Looks requirements up in the ledger, for people and for cases."""

from . import ledger

SERVER, CLIENT = "server", "client"
SIDES = (SERVER, CLIENT)
# A row binds the sides that its role names. Requester and responder are those of RPC. In rows on
# iWARP they are those of an RDMA Read, which either side can be.
_SIDES_OF_ROLE = {"server": (SERVER,), "client": (CLIENT,)}
_SIDES_OF_RPC_ROLE = {"responder": (SERVER,), "requester": (CLIENT,)}
# Documents that come first in reading order.
PRINCIPAL = ("RFC8166", "RFC8167", "RFC8267", "RFC8797")
# Documents whose MUSTs and MUST NOTs must be settled even without --strict.
REQUIRED_DOCUMENTS = (
    *PRINCIPAL,
    "RFC8881",
    "RFC5040",
    "RFC5041",
    "RFC5044",
    "RFC6581",
    "IBA",
    "ODAFS",
)
_MANDATORY = ("MUST", "MUST NOT", "REQUIRED")
_PERMITTING = ("MAY", "OPTIONAL")


class UnknownRequirement(LookupError):
    """An id that the ledger does not hold."""


def find(requirement_id):
    """The requirement with this id. Fields: id, document, section, level, role, subject, statement,
    observable, test, note, exemption. Raises UnknownRequirement."""
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
    return f"{place(entry, ' section ')} ({level(entry)}): {entry.statement}"


def place(requirement, between=" "):
    """ "RFC 8166 4.5.1"; of a document without sections the id. `between`: what precedes the section."""
    if not requirement.section:
        return requirement.id
    return f"{requirement.document.replace('RFC', 'RFC ')}{between}{requirement.section}"


def clause(requirement_id):
    """The same in short: "RFC 8166 4.5.1 (MUST): A header version ..."; without DEF, which is no word of
    an RFC."""
    entry = find(requirement_id)
    word = level(entry)
    words = "" if word == "DEF" else f" ({word})"
    return f"{place(entry)}{words}: {entry.statement}"


def sides(requirement):
    """The sides that a requirement binds: "server", "client" or both, as a tuple."""
    known = dict(_SIDES_OF_ROLE)
    if requirement.subject != "iwarp":
        known |= _SIDES_OF_RPC_ROLE
    return known.get(requirement.role, SIDES)


def mandatory(requirement):
    """Whether the RFC 2119 word leaves no choice."""
    return level(requirement) in _MANDATORY


def permission(requirement):
    """Whether the requirement only permits: MAY or OPTIONAL."""
    return level(requirement) in _PERMITTING


def reading_order(requirement):
    """The sort key of the reading order: principal documents first; sections and numbers are
    numeric."""
    section = [
        (not word.isdigit(), int(word) if word.isdigit() else 0, word)
        for word in requirement.section.split(".")
    ]
    number = int(requirement.id.rpartition("-")[2])
    return requirement.document not in PRINCIPAL, requirement.document, section, number


def exempt(requirement, side):
    """Whether the ledger says why `side` needs no case."""
    exemption = requirement.exemption
    return exemption is not None and exemption.role in ("", side)

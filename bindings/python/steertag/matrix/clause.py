"""What the ledger says of a requirement that a result names. A result may name one that is gone."""

from .. import requirements


def sentence(requirement_id):
    """ "MUST: A header version ...", or an empty text for an unknown requirement."""
    try:
        entry = requirements.find(requirement_id)
    except requirements.UnknownRequirement:
        return ""
    return f"{requirements.level(entry)}: {entry.statement}"


def link(requirement_id):
    """The URL of the clause, or an empty text."""
    from ..coverage.coverage_document import url

    try:
        return url(requirements.find(requirement_id))
    except requirements.UnknownRequirement:
        return ""


def reading_order(requirement_id):
    """The sort key of the reading order; unknown requirements come last."""
    try:
        return False, requirements.reading_order(requirements.find(requirement_id)), ""
    except requirements.UnknownRequirement:
        return True, (), requirement_id

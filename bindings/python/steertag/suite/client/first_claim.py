"""What a client broke that did not complete with the unaltered server, where the judge has found nothing."""

from ..cases.case_end import Failed
from .client_kinds import CORRUPTED
from .garbled_call import garbled_call
from .unheeded_reply import unheeded_reply


def first_claim(outcome, owed):
    """The Failed of this ClientOutcome, or None. `owed`: the requirement of any exchange over the transport."""
    conns = outcome.connections
    if outcome.kind == CORRUPTED and conns:
        return Failed(f"{owed}: the copy differs from the source", conns[-1].journal_text())
    return garbled_call(conns) or unheeded_reply(conns)

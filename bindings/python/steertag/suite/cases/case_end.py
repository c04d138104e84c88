"""The ends of a case, and the requirements that every connection owes."""

import re

from ...causes.case_cause import PREPARING
from ...verdict import Verdict, verdict_of_level
from . import kinds

# Requirements of every connection before that of the case: it opens, and plain calls get answers.
# One for RDMA, one for TCP.
EXCHANGES = "RFC8166-3.3.3-1"
EXCHANGES_OVER_TCP = "RFC5531-9-1"


class CaseEnd(Exception):
    """Ends a case early with a verdict. `reason` is stable, because baselines compare it: no XIDs,
    ports or times. `detail` is free text for the reader. `evidence` is what was judged, if there was
    something to see."""

    verdict = Verdict.FAIL
    # Of a preparation that failed: what was asked of the target, and the kind of its answer.
    step, kind = "", ""

    def __init__(self, reason, detail="", evidence=None):
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.evidence = evidence


class Failed(CaseEnd):
    """A requirement was broken."""


def lacking(owed, part, detail=""):
    """The end of a case that reads a part of an answer which the answer does not have. `owed` is the
    requirement of every connection, as the case says nothing about this part."""
    return Failed(f"{owed}: the answer has no {part}", detail)


class Hung(CaseEnd):
    """The target stopped answering."""

    verdict = Verdict.HANG


class Unsupported(CaseEnd):
    """The target lacks a need of the case, as a probe or its profile proves."""

    verdict = Verdict.UNSUPPORTED


class NotTestable(CaseEnd):
    """This run cannot provoke or observe the subject of the case. `remedy` names the option that
    changes this, as words after "give"; "" if none does."""

    verdict = Verdict.NOT_TESTABLE

    def __init__(self, reason, detail="", remedy=""):
        super().__init__(reason, detail)
        self.remedy = remedy


class HarnessError(CaseEnd):
    """The suite or the engine misbehaved, or a case breaks the rules for cases."""

    verdict = Verdict.HARNESS_ERROR


# The reason for a failed preparation, before another reason.
_PREPARATION = re.compile(rf"[\w.-]+: {PREPARING}[^;]* gave [^;]*; (?=.)")


def without_preparation(reason):
    """The reason without the part on the preparation, if there is more. A replay has the target's
    messages, and not the case's expectations of them."""
    return _PREPARATION.sub("", reason, count=1)


def unprepared(owed, what, kind, detail=""):
    """The end of a case whose preparation failed over the helper connection. A plain call without
    an answer is the target's failure by the requirement `owed`. Anything else is a matter of the
    run's setup."""
    reason = f"{PREPARING}{what} gave {kind}"
    if kind == kinds.HANG:
        end = Hung(reason, detail)
    elif kind in kinds.BROKEN:
        end = Failed(f"{owed}: {reason}", detail)
    else:
        end = HarnessError(reason, detail)
    end.step, end.kind = what, kind
    return end

"""What a case ends with, and what every case owes to its connections."""

import re

from ...verdict import Verdict, verdict_of_level
from . import kinds

# What every connection owes a case before its own requirement is looked at: that it opens, and that
# plain calls are answered. Over RDMA, and over TCP.
EXCHANGES = "RFC8166-3.3.3-1"
EXCHANGES_OVER_TCP = "RFC5531-9-1"


class CaseEnd(Exception):
    """Ends a case early with a verdict. `reason` is stable (no XIDs, ports or times: baselines
    compare it); `detail` is everything that helps a reader, of any length."""

    verdict = Verdict.FAIL

    def __init__(self, reason, detail=""):
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


class Failed(CaseEnd):
    """A requirement was broken."""


class Hung(CaseEnd):
    """The target stopped answering."""

    verdict = Verdict.HANG


class Unsupported(CaseEnd):
    """The target proved, by a probe or its profile, that it lacks what the case needs."""

    verdict = Verdict.UNSUPPORTED


class NotTestable(CaseEnd):
    """This run cannot provoke or observe what the case is about."""

    verdict = Verdict.NOT_TESTABLE


class HarnessError(CaseEnd):
    """The suite or the engine misbehaved, or a case breaks the rules for cases."""

    verdict = Verdict.HARNESS_ERROR


# How a reason says that a case did not come to its own steps; _PREPARATION finds it before another reason.
_PREPARING = "preparing the case: "
_PREPARATION = re.compile(rf"[\w.-]+: {_PREPARING}[^;]* gave [^;]*; (?=.)")


def without_preparation(reason):
    """The reason without what the case was preparing, if it says more: a replay has the target's messages,
    and not the case that wanted something else."""
    return _PREPARATION.sub("", reason, count=1)


def unprepared(owed, what, kind, detail=""):
    """The end of a case whose preparation failed over the helper connection: the target's fault when
    it does not even answer a plain call, which `owed` asks for, otherwise a matter of how the run is
    set up."""
    reason = f"{_PREPARING}{what} gave {kind}"
    if kind == kinds.HANG:
        return Hung(reason, detail)
    if kind in kinds.BROKEN:
        return Failed(f"{owed}: {reason}", detail)
    return HarnessError(reason, detail)

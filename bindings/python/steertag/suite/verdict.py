"""The nine verdicts of a case, how they rank, and how each maps onto a pytest outcome."""

import enum
import re

from . import kinds


class Verdict(enum.Enum):
    """The verdict of a case. The value is the word that reports and baselines use."""

    PASS = "pass"
    LATITUDE = "latitude"  # legal, one of several allowed variants; the reason says which
    WARN = "warn"  # a SHOULD was broken
    NOT_TESTABLE = "not-testable"  # this target or run gives no way to provoke or see it
    UNSUPPORTED = "unsupported"  # the target lacks an optional feature; needs proof
    FAIL = "fail"  # a MUST was broken
    HARNESS_ERROR = "harness-error"  # Steertag itself misbehaved; says nothing about the target
    HANG = "hang"  # the target stopped answering
    CRASH = "crash"  # the target died; explains whatever else went wrong in the case

    def __str__(self):
        return self.value

    @property
    def rank(self):
        """Larger is worse; a case gets the worst of what was noted during it."""
        return list(Verdict).index(self)

    @property
    def outcome(self):
        """The pytest outcome: "passed", "skipped", "failed" or "error"."""
        return _OUTCOMES[self]

    @property
    def letter(self):
        """The letter of `pytest` without -v."""
        return _LETTERS[self]

    @property
    def spoils_run(self):
        """True for verdicts that make the exit code non-zero."""
        return self.outcome in ("failed", "error")


_OUTCOMES = {
    Verdict.PASS: "passed",
    Verdict.LATITUDE: "passed",
    Verdict.WARN: "passed",
    Verdict.NOT_TESTABLE: "skipped",
    Verdict.UNSUPPORTED: "skipped",
    Verdict.FAIL: "failed",
    Verdict.HANG: "failed",
    Verdict.CRASH: "failed",
    Verdict.HARNESS_ERROR: "error",
}
_LETTERS = {
    Verdict.PASS: ".",
    Verdict.LATITUDE: "l",
    Verdict.WARN: "w",
    Verdict.NOT_TESTABLE: "n",
    Verdict.UNSUPPORTED: "u",
    Verdict.FAIL: "F",
    Verdict.HANG: "H",
    Verdict.CRASH: "C",
    Verdict.HARNESS_ERROR: "E",
}

# What a broken requirement of each level amounts to. DEF marks rules that bind without a key word.
_BY_LEVEL = {
    "MUST": Verdict.FAIL,
    "MUST NOT": Verdict.FAIL,
    "REQUIRED": Verdict.FAIL,
    "DEF": Verdict.FAIL,
    "SHOULD": Verdict.WARN,
    "SHOULD NOT": Verdict.WARN,
    "NOT RECOMMENDED": Verdict.WARN,
    "RECOMMENDED": Verdict.WARN,
    "MAY": Verdict.LATITUDE,
    "OPTIONAL": Verdict.LATITUDE,
}


def verdict_of_level(level):
    """The verdict for breaking a requirement of this RFC 2119 level ("MUST NOT")."""
    return _BY_LEVEL[level]


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

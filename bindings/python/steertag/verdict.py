"""The nine verdicts with their ranks and pytest outcomes."""

import enum


class Verdict(enum.Enum):
    """The verdict of a case. The value is the word that reports and baselines use."""

    PASS = "pass"
    LATITUDE = "latitude"  # One of several legal reactions. The reason names it.
    WARN = "warn"  # A SHOULD was broken.
    NOT_TESTABLE = "not-testable"  # This run cannot provoke or observe it.
    UNSUPPORTED = "unsupported"  # The target provably lacks an optional feature.
    FAIL = "fail"  # A MUST was broken.
    HARNESS_ERROR = "harness-error"  # Steertag misbehaved. It says nothing about the target.
    HANG = "hang"  # The target stopped answering.
    CRASH = "crash"  # The target died. This explains all other failures of the case.

    def __str__(self):
        return self.value

    @property
    def rank(self):
        """Larger is worse; a case gets the worst verdict of its notes."""
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

# The verdict of a broken requirement by level. DEF marks rules that bind without a key word.
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

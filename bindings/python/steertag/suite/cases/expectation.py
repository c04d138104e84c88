"""`expect`: the only way in which a case judges, always against an id of the ledger.

    expect(outcome, "RFC8166-4.5.1-1", must=["err-vers"])
    expect(outcome, "RFC8166-4.5.2-4", must=["err-chunk"],
           latitude={"reply": "the header XID alone is used (RFC 8166 4.2.1)"})
    expect.equal(outcome.header.vers_low, 1, "RFC8166-4.5.1-1", "lowest supported version")

A mismatch of kinds fails, or warns if only `should` was given. A mismatch of values gets the verdict
of the requirement's level in the ledger: fail for MUST, warn for SHOULD, latitude for MAY.
"""

from ... import requirements as ledger
from ...files.escape import harmless
from ...verdict import Verdict, verdict_of_level
from . import kind_words, kinds
from .case_end import Failed, HarnessError, Hung
from .case_run import current_run
from .evidence import evidence_of_kind, evidence_of_value

# Values longer than this are kept out of the stable reason.
LONGEST_VALUE = 60


class _Expect:
    """The type of `expect`."""

    def __call__(self, outcome, requirement_id, must=None, should=None, latitude=None, warn=None):
        """Judges the kind of an outcome.

        must      kinds that obey the requirement: pass. Every other kind fails.
        should    kinds that obey; with `must`, those of `must` alone warn; without `must`, every
                  other kind warns.
        latitude  {kind: why}: legal variants, reported as latitude.
        warn      {kind: why}: tolerated but wrong.
        A kind that is listed is judged as listed, also "hang"; an unlisted "hang" is the verdict hang.
        """
        run = current_run()
        run.check_declared(requirement_id)
        _check_kinds(run, (must, should, latitude, warn))
        sets = {"must": must, "should": should, "latitude": latitude, "warn": warn}
        given = {name: words for name, words in sets.items() if words is not None}
        run.recorder.expect(outcome, requirement_id, given)
        best = list(should if should is not None else must or ())
        if not best:
            raise HarnessError("expect needs kinds in must= or should=")
        kind = outcome.kind
        expected = _either(sorted(set(best) | set(must or ())))
        reason = f"{requirement_id}: expected {expected}, saw {kind}"
        if kind in best:
            return outcome
        if kind in (latitude or {}):
            run.note(Verdict.LATITUDE, f"{requirement_id}: {kind}: {latitude[kind]}")
            return outcome
        if kind in (warn or {}):
            text = f"{reason} ({warn[kind]})"
            run.note(
                Verdict.WARN, text, _explain(requirement_id, outcome), evidence_of_kind(outcome)
            )
            return outcome
        if should is not None and (must is None or kind in must) and kind != "hang":
            preferred = _either(sorted(best))
            reason = f"{requirement_id}: should be {preferred}, saw {kind}"
            run.note(
                Verdict.WARN, reason, _explain(requirement_id, outcome), evidence_of_kind(outcome)
            )
            return outcome
        raise broken(outcome, requirement_id, expected)

    def equal(self, actual, expected, requirement_id, what, show=True, outcome=None):
        """`actual == expected`. `what` names the value. With show=False the values are left out of
        the stable reason (use it for XIDs, handles and the like)."""
        seen = "" if not show else f": expected {_short(expected)}, saw {_short(actual)}"
        if actual != expected:
            text = f"{what}{seen or ' differs'}"
            self._broken(requirement_id, text, (actual, expected), outcome)

    def one_of(self, actual, allowed, requirement_id, what, outcome=None):
        """`actual` is one of the allowed values."""
        if actual not in allowed:
            wanted = _either([_short(value) for value in allowed])
            text = f"{what}: expected {wanted}, saw {_short(actual)}"
            self._broken(requirement_id, text, (actual, allowed), outcome)

    def at_least(self, actual, least, requirement_id, what, outcome=None):
        """`actual >= least`."""
        if actual < least:
            text = f"{what}: expected at least {least}, saw {actual}"
            self._broken(requirement_id, text, (actual, least), outcome)

    def at_most(self, actual, most, requirement_id, what, outcome=None):
        """`actual <= most`."""
        if actual > most:
            text = f"{what}: expected at most {most}, saw {actual}"
            self._broken(requirement_id, text, (actual, most), outcome)

    def true(self, condition, requirement_id, what, outcome=None):
        """`condition` holds; `what` is the sentence that should be true, without values."""
        if not condition:
            self._broken(requirement_id, f"not true: {what}", (condition, True), outcome)

    def data(self, actual, expected, requirement_id, what, outcome=None):
        """Two byte strings are equal; tells the first octet that differs."""
        actual, expected = bytes(actual), bytes(expected)
        if actual == expected:
            return
        shared = min(len(actual), len(expected))
        first = next((i for i in range(shared) if actual[i] != expected[i]), shared)
        text = f"{what}: expected {len(expected)} octets"
        text += f", saw {len(actual)}" if len(actual) != len(expected) else ", other content"
        detail = (
            f"first difference at octet {first}: expected {expected[first:first + 16].hex(' ', 4)}"
            f" ..., saw {actual[first:first + 16].hex(' ', 4)} ..."
        )
        self._judge(requirement_id, text, detail, outcome)

    def _broken(self, requirement_id, text, values, outcome):
        detail = "expected {1!r}\nsaw      {0!r}".format(*values)
        self._judge(requirement_id, text, detail, outcome)

    def _judge(self, requirement_id, text, detail, outcome):
        run = current_run()
        run.check_declared(requirement_id)
        verdict = verdict_of_level(ledger.level(ledger.find(requirement_id)))
        is_broken = verdict in (Verdict.FAIL, Verdict.WARN)
        detail = f"{detail}\n{_explain(requirement_id, outcome, is_broken)}"
        reason = f"{requirement_id}: {text}"
        if is_broken:
            run.recorder.check(reason, verdict, outcome)
        if verdict is Verdict.FAIL:
            raise Failed(reason, detail, evidence_of_value(outcome))
        run.note(verdict, reason, detail, evidence_of_value(outcome))


def broken(outcome, requirement_id, expected=kinds.REPLY):
    """The end of a case whose outcome is of another kind than expected."""
    failure = Hung if outcome.kind == kinds.HANG else Failed
    reason = f"{requirement_id}: expected {expected}, saw {outcome.kind}"
    return failure(reason, _explain(requirement_id, outcome), evidence_of_kind(outcome))


def _check_kinds(run, sets):
    """A kind that does not exist is a mistake of the case's author, and says nothing about the target."""
    for words in sets:
        for word in words or ():
            problem = kind_words.problem(word)
            if problem is not None:
                raise HarnessError(f"case {run.case_id}: {problem}")


def _either(words):
    return " or ".join(str(word) for word in words)


def _short(value):
    text = repr(value) if not isinstance(value, str) else harmless(value)
    return text if len(text) <= LONGEST_VALUE else f"{type(value).__name__} of {len(value)}"


def _explain(requirement_id, outcome, is_broken=True):
    """The requirement, what was seen, and the decoded end of the trace, in which the answer is marked if it breaks
    the requirement."""
    parts = [ledger.citation(requirement_id)]
    if outcome is not None:
        if outcome.detail:
            parts.append(f"saw: {outcome.detail}")
        parts.append(outcome.trace(requirement_id if is_broken else ""))
    return "\n".join(part for part in parts if part)


expect = _Expect()

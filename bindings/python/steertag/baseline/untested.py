"""The block `untested` of a baseline: cases that no run of its target can test, by outcome.

`steertag baseline update` writes the block. A target over TCP has over 1,000 such cases, and a note on
each adds nothing to the reason."""

from .case_outcome import Outcome
from .error import BaselineError

KEY = "untested"
VERDICTS = ("not-testable", "unsupported")
GROUP_KEYS = ("verdict", "reason", "cases")
# An outcome that fewer cases share gives rows: of these a human can say what the target lacks.
FEWEST_SHARING = 20
WIDTH = 100
_COMMENT = "# by reason; written by `steertag baseline update`"


def decode(path, document):
    """{case: Outcome} of the block, or an empty dict without one. Raises BaselineError."""
    block = document.get(KEY)
    if block is None:
        return {}
    if not isinstance(block, list):
        raise BaselineError(f"{path} is not a baseline: '{KEY}' is not a list")
    found = {}
    for number, group in enumerate(block, 1):
        for case in _cases(f"{path}, {KEY}, group {number}", group):
            if case in found:
                raise BaselineError(f"{path} names more than once: {case}")
            found[case] = Outcome(group["verdict"], group["reason"])
    return found


def _cases(where, group):
    """The cases of a group. Each error begins with `where`, the place of the group."""
    if not isinstance(group, dict) or set(group) != set(GROUP_KEYS):
        raise BaselineError(f"{where}: a group has a verdict, its reason and its cases, no more")
    if group["verdict"] not in VERDICTS:
        raise BaselineError(f"{where}: 'verdict' is not one of {', '.join(VERDICTS)}")
    if not _is_text(group["reason"]):
        raise BaselineError(f"{where}: 'reason' is not a text")
    cases = group["cases"]
    if not isinstance(cases, list) or not cases or not all(map(_is_text, cases)):
        raise BaselineError(f"{where}: 'cases' is not a list of ids of cases")
    return cases


def _is_text(value):
    return isinstance(value, str) and bool(value)


def by_outcome(outcomes):
    """{Outcome: its cases}, both sorted, of {case: Outcome}."""
    groups = {}
    for case, outcome in sorted(
        outcomes.items(), key=lambda item: (item[1].verdict, item[1].reason, item[0])
    ):
        groups.setdefault(outcome, []).append(case)
    return groups


def encode(outcomes):
    """The text of the block for {case: Outcome}; empty without cases."""
    groups = [
        dict(zip(GROUP_KEYS, (outcome.verdict, outcome.reason, cases), strict=True))
        for outcome, cases in by_outcome(outcomes).items()
    ]
    if not groups:
        return ""
    import yaml  # slow to import, and most commands do not need it

    body = yaml.safe_dump(groups, sort_keys=False, allow_unicode=True, width=WIDTH)
    return f"{KEY}: {_COMMENT}\n{body}"


def updated(present, seen, keeps_unseen, excluded):
    """The {case: Outcome} of a block after reports. `present` is that before, `seen` is {case: its
    outcomes}. `keeps_unseen`: cases without an outcome stay. `excluded`: cases with rows that stay.
    """
    found = {case: each for case, each in present.items() if keeps_unseen and case not in seen}
    for case, outcomes in seen.items():
        first = outcomes[0]
        if case not in excluded and first.verdict in VERDICTS and set(outcomes) == {first}:
            found[case] = first
    groups, known = by_outcome(found), set(present.values())
    shared = {outcome for outcome, cases in groups.items() if len(cases) >= FEWEST_SHARING}
    return {case: outcome for case, outcome in found.items() if outcome in shared | known}

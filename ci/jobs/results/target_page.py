"""The page of one target: its findings by what it does instead, and what was not tested."""

from steertag.matrix.case_list import topics
from steertag.matrix.matrix_markdown import FOUND, escaped, table, target_table
from steertag.matrix.matrix_text import VARIES
from steertag.matrix.target import UNTESTED, WORST_FIRST, REQUIREMENT

GENERATED = "`ci/results` makes this page from [{0}]({1}{0}). It is not edited."
SEE_REASON = "see the reason"  # in a note that adds nothing to the reason
SECTIONS = (
    ("Findings", FOUND, "what the target does"),
    ("Legal variants", ("latitude",), "what the target does"),
    ("Not tested", UNTESTED, "why"),
)


def page(target, source):
    """The text of the page. `source` is the path of the baseline from the root of the project."""
    lines = [f"# {target.name}", "", GENERATED.format(source, "../../"), ""]
    lines += [*target_table([target], {}), ""]
    for title, verdicts, head in SECTIONS:
        groups = _groups(target, verdicts)
        if groups:
            lines += [f"## {title}", ""]
            lines += table([head, "verdict", "requirement", "cases"], map(_row, groups))
            lines.append("")
    lines.append(
        f"`{VARIES}` depends on timing. The ids of cases begin with `{_side(target)}.`, which is"
    )
    lines.append("left out here. The baseline has the exact outcome of each of them.")
    return "\n".join(lines) + "\n"


def _side(target):
    return " and ".join(sorted(target.sides))


def _groups(target, verdicts):
    """[(what, {case: Result})] with the worst first, then those of the most cases."""
    groups = {}
    for case, result in target.results.items():
        if result.verdict in verdicts:
            groups.setdefault(_what(result), {})[case] = result
    return sorted(groups.items(), key=lambda group: (_worst(group[1]), -len(group[1]), group[0]))


def _what(result):
    if SEE_REASON not in result.note:
        return result.note
    reason = result.outcomes[0].reason
    return REQUIREMENT.sub("", reason, count=1).lstrip(": ")


def _worst(results):
    return min(WORST_FIRST.index(result.verdict) for result in results.values())


def _row(group):
    what, results = group
    found = [result.verdict for result in results.values()]
    counts = [f"{found.count(verdict)} {verdict}" for verdict in WORST_FIRST if verdict in found]
    mark = f" {VARIES}" if any(result.varies for result in results.values()) else ""
    names = dict.fromkeys(name for result in results.values() for name in result.broken)
    cases = ", ".join(f"`{name}`" for name in topics(results))
    return escaped(what), ", ".join(counts) + mark, ", ".join(sorted(names)), cases

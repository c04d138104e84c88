"""The table of a mutation score, as text, JUnit and JSON."""

import collections
import json
import xml.etree.ElementTree


def lines(outcomes, provider=None, below=()):
    """`below`: the deviations that were not tried, since they are below messages of another provider."""
    names = [outcome.deviation.name for outcome in outcomes] + [each.name for each in below]
    width = max(map(len, names))
    for outcome in outcomes:
        deviation = outcome.deviation
        shown = "first" if outcome.blame == "right" else outcome.shown or "-"
        yield (
            f"{deviation.name:<{width}}  {deviation.requirement:<20}  {outcome.word:<9}  {shown:<20}  "
            f"{outcome.by}"
        )
    for each in below:
        yield f"{each.name:<{width}}  {each.requirement:<20}  not of messages"
    own = [outcome.good for outcome in outcomes if not outcome.deviation.also]
    also = [outcome.good for outcome in outcomes if outcome.deviation.also]
    yield f"\n{_blame([outcome for outcome in outcomes if not outcome.deviation.also])}"
    over = f" over {provider}" if provider else ""
    if below:
        count = sum(not each.also for each in below)
        yield f"not of messages, and not tried{over}: {count} deviations"
    yield f"mutation score{over}: {sum(own)} of {len(own)} deviations, {100 * sum(own) // len(own)} %"
    if also:
        yield f"caught under further requirements that they break: {sum(also)} of {len(also)}"


def _blame(outcomes):
    """How many are shown first under their own requirement, and where the others are."""
    counts = collections.Counter(outcome.blame for outcome in outcomes)
    text = (
        f"shown first under the requirement that they break: {counts['right']} of {len(outcomes)}"
    )
    others = {
        "under another that they break too": counts["declared"],
        "as an end or a refusal": counts["end"],
        "under one that they do not break": counts["wrong"],
    }
    return "; ".join([text, *(f"{what}: {count}" for what, count in others.items() if count)])


def problems(outcomes):
    """The deviations that are not caught, with the results of cases, for the end of a long log. Also those that are
    shown first under a requirement that they do not break."""
    for outcome in outcomes:
        if outcome.blame == "wrong":
            yield f"\n{_wrong_blame(outcome)}"
        if not outcome.good:
            deviation = outcome.deviation
            yield f"\n{outcome.word}: {deviation.name}, which breaks {deviation.requirement}: {outcome.by}"
            yield from (f"  {line}" for line in outcome.seen)


def blame_lines(outcomes):
    """The table of blame: each caught deviation that is first shown under another requirement than its own."""
    rows = [
        (each.deviation.name, each.deviation.requirement, each.shown or "-", each.blame, each.by)
        for each in outcomes
        if each.blame not in ("", "right")
    ]
    if not rows:
        return
    rows.insert(0, ("deviation", "expected", "first shown", "blame", "case"))
    widths = [max(map(len, column)) for column in zip(*rows)]
    yield ""
    for row in rows:
        yield "  ".join(f"{word:<{width}}" for word, width in zip(row, widths)).rstrip()


def write_junit(path, outcomes, below=()):
    count = str(len(outcomes) + len(below))
    root = xml.etree.ElementTree.Element("testsuite", name="deviations", tests=count)
    for deviation in below:
        test = _test_of(root, deviation)
        xml.etree.ElementTree.SubElement(test, "skipped", message="not of messages")
    for outcome in outcomes:
        test = _test_of(root, outcome.deviation)
        if outcome.blame == "wrong":
            xml.etree.ElementTree.SubElement(test, "failure", message=_wrong_blame(outcome))
        if not outcome.good:
            text = f"{outcome.word}: {outcome.deviation.requirement}: {outcome.by}"
            failure = xml.etree.ElementTree.SubElement(test, "failure", message=text)
            failure.text = "\n".join(outcome.seen)
    xml.etree.ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _wrong_blame(outcome):
    deviation = outcome.deviation
    return (
        f"wrong blame: {deviation.name}, which breaks {deviation.requirement}: {outcome.by} shows {outcome.shown} "
        "first, which it does not declare to break"
    )


def _test_of(root, deviation):
    name = f"{deviation.name} ({deviation.requirement})" if deviation.also else deviation.name
    return xml.etree.ElementTree.SubElement(root, "testcase", classname="deviation", name=name)


def write_json(path, outcomes):
    """Writes the file for `steertag coverage --deviations`. `by` is empty if no case caught the
    deviation. `requirement` is the expected id, and `shown` the first one; `blame` compares them. If
    all rows have `whole`, a case outside of every `failed` fails by no deviation.
    """
    whole = {outcome.deviation.name for outcome in outcomes if outcome.whole}
    rows = [
        {
            "name": outcome.deviation.name,
            "requirement": outcome.deviation.requirement,
            "outcome": outcome.word,
            "shown": outcome.shown,
            "blame": outcome.blame,
            "by": outcome.by if outcome.good else "",
            "failed": list(outcome.failed),
            "whole": outcome.deviation.name in whole and outcome.word != "no run",
        }
        for outcome in outcomes
    ]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")

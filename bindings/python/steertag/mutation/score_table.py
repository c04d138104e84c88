"""The table of a mutation score, as text, JUnit and JSON."""

import json
import xml.etree.ElementTree


def lines(outcomes):
    width = max(len(outcome.deviation.name) for outcome in outcomes)
    for outcome in outcomes:
        deviation = outcome.deviation
        shown = "first" if outcome.blames_right else outcome.shown or "-"
        yield (
            f"{deviation.name:<{width}}  {deviation.requirement:<20}  {outcome.word:<9}  {shown:<20}  "
            f"{outcome.by}"
        )
    own = [outcome.good for outcome in outcomes if not outcome.deviation.also]
    also = [outcome.good for outcome in outcomes if outcome.deviation.also]
    right = sum(outcome.blames_right for outcome in outcomes if not outcome.deviation.also)
    yield f"\nshown first under the requirement that they break: {right} of {len(own)}"
    yield f"mutation score: {sum(own)} of {len(own)} deviations, {100 * sum(own) // len(own)} %"
    if also:
        yield f"caught under further requirements that they break: {sum(also)} of {len(also)}"


def not_caught(outcomes):
    """The uncaught deviations with the results of cases, for the end of a long log."""
    for outcome in outcomes:
        if not outcome.good:
            deviation = outcome.deviation
            yield f"\n{outcome.word}: {deviation.name}, which breaks {deviation.requirement}: {outcome.by}"
            yield from (f"  {line}" for line in outcome.seen)


def write_junit(path, outcomes):
    root = xml.etree.ElementTree.Element("testsuite", name="deviations", tests=str(len(outcomes)))
    for outcome in outcomes:
        name = outcome.deviation.name
        if outcome.deviation.also:
            name += f" ({outcome.deviation.requirement})"
        test = xml.etree.ElementTree.SubElement(root, "testcase", classname="deviation", name=name)
        if not outcome.good:
            text = f"{outcome.word}: {outcome.deviation.requirement}: {outcome.by}"
            failure = xml.etree.ElementTree.SubElement(test, "failure", message=text)
            failure.text = "\n".join(outcome.seen)
    xml.etree.ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def write_json(path, outcomes):
    """Writes the file for `steertag coverage --deviations`. `by` is empty if no case caught the
    deviation. If all rows have `whole`, a case outside of every `failed` fails by no deviation."""
    whole = {outcome.deviation.name for outcome in outcomes if outcome.whole}
    rows = [
        {
            "name": outcome.deviation.name,
            "requirement": outcome.deviation.requirement,
            "outcome": outcome.word,
            "shown": outcome.shown,
            "by": outcome.by if outcome.good else "",
            "failed": list(outcome.failed),
            "whole": outcome.deviation.name in whole and outcome.word != "no run",
        }
        for outcome in outcomes
    ]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")

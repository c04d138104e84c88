"""The report as JUnit XML: one suite for each file.

A connection has one case for each broken requirement. A connection without findings has one case,
skipped if it has no whole message. The properties `verdict`, `reason` and `requirement` are those
of the suite's own report."""

import xml.etree.ElementTree as xml

from ..files.escape import printable
from ..verdict import Verdict
from .counting import counted
from .grade_text import NOT_KEPT, file_name
from .grade_text import verdict as verdict_of_counts
from .graded import Status, connection_counts
from .shortfalls import shortfalls

# Frames named in one case; the JSON has the others.
MOST_FRAMES = 20


def text(files, shown, strict):
    """The XML. `shown`: the verdicts to include. `strict`: warnings are failures, and included."""
    failing = {Verdict.FAIL, Verdict.WARN} if strict else {Verdict.FAIL}
    root = xml.Element("testsuites", name="steertag grade")
    for each in files:
        root.append(_suite(each, failing.union(shown), failing))
    xml.indent(root, " ")
    body = xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _suite(graded, wanted, failing):
    name = file_name(graded)
    cases = [*_file_cases(graded, name), *_connection_cases(graded, name, wanted, failing)]
    count = {
        kind: str(sum(case.find(kind) is not None for case in cases))
        for kind in ("failure", "error", "skipped")
    }
    suite = xml.Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=count["failure"],
        errors=count["error"],
        skipped=count["skipped"],
    )
    suite.extend(cases)
    return suite


def _file_cases(graded, name):
    """The cases of the file itself, which name its defects."""
    if graded.error is not None:
        case = _case(name, "the file can be read", verdict=Verdict.HARNESS_ERROR.value)
        _add(case, "error", printable(str(graded.error)))
        yield case
    elif graded.status is Status.NOTHING:
        case = _case(name, "a message can be judged", verdict=Verdict.NOT_TESTABLE.value)
        _add(case, "error", "; ".join(shortfalls(graded)))
        yield case
    elif graded.unclassified:
        case = _case(name, "every finding is kept", verdict=Verdict.FAIL.value)
        _add(case, "failure", counted(graded.unclassified, *NOT_KEPT))
        yield case


def _connection_cases(graded, name, wanted, failing):
    rows = {}
    for row in graded.rows:
        if row.verdict in wanted:
            rows.setdefault(row.connection, {}).setdefault(
                (row.requirement.id, row.culprit), []
            ).append(row)
    titles = {
        one.number: f"connection {one.number}, {printable(one.client_end)} to "
        f"{printable(one.server_end)}"
        for one in graded.connections
    }
    for number in sorted({*titles, *rows}):
        title = titles.get(number, f"connection {number}")
        for (requirement, culprit), found in sorted(rows.get(number, {}).items()):
            yield _finding_case(name, f"{title}: {requirement} by the {culprit}", found, failing)
    for one in graded.connections:
        if one.number in rows:
            continue
        if any(connection_counts(one)[verdict] for verdict in wanted):
            yield _unlisted_case(name, titles[one.number], connection_counts(one), failing)
        else:
            yield _unbroken_case(name, titles[one.number], one)


def _unlisted_case(name, title, counts, failing):
    """The case of a connection whose findings exceed the most that are kept."""
    failed = any(counts[verdict] for verdict in failing)
    verdict = Verdict.FAIL if failed else Verdict.PASS
    case = _case(name, f"{title}: findings that are not listed", verdict=verdict.value)
    if failed:
        _add(case, "failure", verdict_of_counts(counts))
    return case


def _unbroken_case(name, title, connection):
    if connection.messages or connection.optimistic is not None:
        return _case(name, title, verdict=Verdict.PASS.value)
    case = _case(name, title, verdict=Verdict.NOT_TESTABLE.value)
    _add(case, "skipped", "no whole message was seen: nothing was judged")
    return case


def _finding_case(name, title, found, failing):
    first = found[0]
    reason = f"{first.requirement.id}: {first.rule}"
    case = _case(
        name,
        title,
        verdict=first.verdict.value,
        reason=reason,
        requirement=first.requirement.id,
    )
    lines = [f"{first.place} ({first.level}): {first.sentence}"]
    lines += [
        f"frame {row.frame}: expected {row.expected}; observed {row.observed}"
        for row in found[:MOST_FRAMES]
    ]
    if len(found) > MOST_FRAMES:
        lines.append(f"and {counted(len(found) - MOST_FRAMES, 'more frame', 'more frames')}")
    detail = printable("\n".join(lines)).replace("\\x0a", "\n")
    if first.verdict in failing:
        _add(case, "failure", reason, detail)
    else:
        xml.SubElement(case, "system-out").text = detail
    return case


def _case(class_name, name, **properties):
    case = xml.Element("testcase", classname=class_name, name=name, time="0")
    bag = xml.SubElement(case, "properties")
    for key, value in properties.items():
        xml.SubElement(bag, "property", name=key, value=value)
    return case


def _add(case, kind, message, detail=""):
    xml.SubElement(case, kind, message=message).text = detail or message

"""The content of the page of a run, from its report.json."""

import collections

from ..case_list.case_entry import topic_of
from ..causes import RunCases, fold
from ..causes.cause_key import split_reason
from ..causes.digest import TEXTS, headline, shown_path
from . import shipped_failures
from .clause_rows import clause_rows
from .run_metadata import metadata_facts
from .trace_lines import page_lines

# Requirements named that were broken after a cause.
MOST_FOLLOWING = 8


def run_content(document, directory):
    """The content, in JSON types, for page.page. `document` is that of report.json in the folder `directory`;
    a run wrote it, so that its types are not checked. Besides:

    - `title`, `facts`: [label, text] of the run; `alerts`: sentences.
    - `totals`: [verdict, number], worst last. `noun`, `topic`, `sentence`: what a case, its topic and its sentence
      are called.
    - `causes`, `warnings`: see _cause. `cases`: see _case. `clauses`: see clause_rows.
    """
    run = RunCases.of(document)
    causes, warnings = fold(run.failed), fold(run.warned)
    wrong = {case.id for case in (*run.failed, *run.warned)}
    failures = {
        entry["id"]: (entry["verdict"], _about(entry))
        for entry in document["cases"]
        if entry["id"] in wrong
    }
    places = {entry["id"]: place for place, entry in enumerate(document["cases"])}
    others = shipped_failures.by_case(failures) if failures else {}
    command = document.get("run", {}).get("command", "")
    cases = [_case(entry, directory, command, others) for entry in document["cases"]]
    named = [each for case in cases for each in (*case["about"], *case["requirements"])]
    return {
        "title": f"Steertag: {document.get('name') or document['target']}",
        "facts": list(_facts(document)),
        "alerts": list(_alerts(document)),
        "totals": [[verdict, count] for verdict, count in document["totals"].items() if count],
        "noun": "case",
        "topic": "Topic",
        "sentence": "tries",
        "causes": [_cause(each, run.clauses, places, others) for each in causes],
        "warnings": [_cause(each, run.clauses, places, others) for each in warnings],
        "cases": cases,
        "clauses": clause_rows(named),
    }


def _facts(document):
    run = document.get("run")
    yield "target", document["target"]
    for label in ("name", "software"):
        if document.get(label):
            yield label, document[label]
    if run:
        yield from metadata_facts(run)
        yield "seeds", f"--seed {run['seed']} --run-seed {document['run_seed']}"
    else:
        yield "versions", f"steertag {document.get('steertag', 'unknown')}"


def _alerts(document):
    if document.get("stopped"):
        yield f"The run stopped early: {document['stopped']}"
    if document.get("partial"):
        yield "A part of the suite was run, not all of its cases."


def _cause(cause, clauses, places, others):
    """`count` is the number of its cases. `cases` and `example` are places in `cases` of the content.

    - `follows`: [requirement, number of cases] that were broken later.
    - `after`: [number of another cause, number of cases]; `perhaps`: the number of another cause, or null.
    - `others`: [target, number of the cases that it fails in the same way].
    """
    fail_too = collections.Counter(
        target for case in cause.cases for target, _, _ in others.get(case.id, ())
    )
    return {
        "number": cause.number,
        "headline": headline(cause, clauses),
        "requirement": cause.requirement,
        "verdicts": list(cause.verdicts.items()),
        "count": len(cause.cases),
        "cases": [places[case.id] for case in cause.cases],
        "example": places[cause.example.id],
        "follows": cause.follows[:MOST_FOLLOWING],
        "after": list(cause.after.items()),
        "perhaps": cause.perhaps,
        "others": list(fail_too.items()),
    }


def _case(entry, directory, command, others):
    """`side` is the peer under test. `requirements` are claimed; `about`: see _about. `seen` and `expected` are of the cause.
    `baseline`: "expected", "different", or "" without a baseline.
    `files` and `commands`: [label, text]. `trace`: lines, see trace_lines. `others`: [target, verdict, note].
    """
    cause = entry.get("cause") or {}
    return {
        "id": entry["id"],
        "side": entry["id"].partition(".")[0],
        "topic": topic_of(entry["id"]),
        "sentence": entry.get("sentence", ""),
        "verdict": entry["verdict"],
        "reason": entry["reason"],
        "baseline": entry.get("baseline", ""),
        "requirements": entry["requirements"],
        "about": _about(entry),
        "seen": cause.get("text", ""),
        "expected": cause.get("expected", ""),
        "files": list(_files(entry, directory)),
        "commands": list(_commands(entry, directory, command)),
        "trace": page_lines(entry.get("trace", ())),
        "others": others.get(entry["id"], []),
    }


def _about(entry):
    """The requirements that the verdict is about, the cause first."""
    cause = entry.get("cause") or {}
    named = [cause.get("requirement", ""), *(found["id"] for found in entry["findings"])]
    named += [split_reason(part)[0] for part in entry["reason"].split("; ")]
    return list(dict.fromkeys(filter(None, named)))


def _files(entry, directory):
    """[label, path below the directory]"""
    text = f"{TEXTS}/{entry['id']}.txt"
    for label, path in (("capture", entry.get("capture")), ("recording", entry.get("replay"))):
        if path:
            yield label, path
    if (directory / text).is_file():
        yield "all that was noted", text


def _commands(entry, directory, command):
    if entry.get("replay"):
        yield "again", f"steertag replay {shown_path(directory)}/{entry['replay']}"
    choice = f"--case {entry['id']}"
    if command and choice not in command:
        yield "alone", f"{command} {choice}"
    cause = entry.get("cause") or {}
    if cause.get("requirement"):
        yield "explained", f"steertag explain {cause['requirement']}"

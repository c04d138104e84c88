"""Compares what the judge found while a case ran with what `steertag grade` finds in its capture.

Both find the same at the same events. Only what one of them cannot have seen may differ."""

import collections
import json

from ci.jobs.agreement import common_finding, visible_findings
from ci.jobs.agreement.agreement_result import CannotCompare, Result

from steertag.grade.reading import grade_file


def client_of_end(end):
    """What rows of `judged` name a connection by, as ("port", 50000) or ("queue_pair", 18)."""
    _, queue_pair, number = end.rpartition(" qp ")
    if queue_pair:
        return "queue_pair", None if number == "unknown" else int(number, 16)
    return "port", int(end.rpartition(":")[2])


def client_of_row(row):
    return next((name, row[name]) for name in ("port", "queue_pair") if name in row)


def title(client):
    """ "port 50000", "queue pair 0x000012" ..."""
    name, number = client
    if name == "port":
        return f"port {number}"
    return f"queue pair {number:#08x}" if number is not None else "queue pair unknown"


def compare(case, graded):
    """Sentences about where a case, as in report.json, and its capture do not agree. A case that is `cut` goes
    on behind the end of its capture."""
    if graded.error:
        return [f"the capture is no whole file: {graded.error}"]
    by_number, by_client = collections.defaultdict(list), collections.defaultdict(list)
    for row in graded.rows:
        by_number[row.connection].append(row)
    for each in graded.connections:
        client = client_of_end(each.client_end)
        # A REQ that names a queue pair in use opens another one, without a message.
        if each.client.sends or each.server.sends or client not in by_client:
            by_client[client].append(each)
    own = "server" if case["id"].startswith("client.") else "client"
    problems = []
    for row in case["judged"]:
        client = client_of_row(row)
        connections = by_client.pop(client, [])
        if "octets" in row:
            continue  # no judge watches raw octets of a case
        if len(connections) > 1:
            problems.append(f"{title(client)}: the capture has {len(connections)} connections")
        shown = [row for each in connections for row in by_number[each.number]]
        sends = (
            visible_findings.sends_before_loss(graded.path, connections[0]) if connections else None
        )
        whole = sum(getattr(each, own).sends for each in connections)
        differ = compare_connection(
            row, common_finding.graded(shown), own, sends, whole, case.get("cut", False)
        )
        problems += [f"{title(client)}: {each}" for each in differ]
    for client, connections in by_client.items():
        shown = [row for each in connections for row in by_number[each.number]]
        for each in common_finding.graded(shown):
            problems.append(f"{title(client)}: not judged live, but the capture shows {each}")
    return problems


def compare_connection(row, shown, own, sends=None, whole=None, cut=False):
    """Sentences about a row of `judged` and what its connection shows in the capture. The suite plays the side
    `own`. `sends` are those before the capture's first loss, by side. The capture has `whole` Sends of `own`.
    """
    found, _ = common_finding.live(row)
    shown = visible_findings.without_what_was_not_told(found, shown, row, own)
    shown = visible_findings.without_what_took_a_place(shown, row)
    if sends is not None:
        found = visible_findings.without_what_was_lost(found, shown, sends)
    if whole is not None:
        found = visible_findings.without_what_did_not_leave(found, shown, own, whole)
    if cut:
        found = found[: len(shown)]
    return difference(found, shown)


def difference(live, shown):
    """Sentences on what only one has."""
    live, shown = collections.Counter(live), collections.Counter(shown)
    only_live = [f"only live: {each}" for each in (live - shown).elements()]
    return only_live + [f"only in the capture: {each}" for each in (shown - live).elements()]


def results_of_report(report):
    """Yields the Result of each case of a report folder that has a capture, and the capture's path."""
    path = report / "report.json"
    try:
        cases = json.loads(path.read_text())["cases"]
    except (OSError, ValueError, KeyError) as error:
        raise CannotCompare(f"{path} is no report of a suite: {error}") from None
    for case in cases:
        if not case["capture"]:
            # Without octets there is no capture; what was judged there had octets.
            if any(row["findings"] for row in case["judged"]):
                problem = "findings, but no capture: pytest --captures all keeps it"
                yield Result(f"{report.name} {case['id']}", [problem]), None
            continue
        yield _result(f"{report.name} {case['id']}", report / case["capture"], case)


def results_of_fixtures(folder, judged):
    """The same of a folder of fixtures. `judged` has its live judgements: {name of the capture: case}."""
    captures = {path.stem: path for path in folder.glob("*.pcapng")}
    for name in sorted(captures.keys() | judged.keys()):
        title, path = f"{folder.name} {name}", captures.get(name, folder / f"{name}.pcapng")
        if name not in judged:
            yield Result(title, ["nothing is kept of what was judged live"]), path
        else:
            yield _result(title, path, judged[name])


def _result(name, path, case):
    if not path.is_file():
        return Result(name, [f"its capture is missing: {path}"]), None
    graded = grade_file(str(path), [])
    return Result(name, compare(case, graded), len(graded.rows)), path

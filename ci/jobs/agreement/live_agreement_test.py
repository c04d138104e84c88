"""Tests of the comparison of live runs with captures: each way to disagree is found, and what one side cannot
know excuses nothing else."""

import copy
import json
import types

import pytest

from ci.jobs.agreement import agreement_command, live_agreement, visible_findings
from ci.jobs.agreement.agreement_result import CannotCompare
from ci.jobs.agreement.common_finding import Found
from ci.jobs.fixtures.fixture_places import CAPTURES

import capture_files
from steertag.grade.reading import grade_file

SITUATION = CAPTURES / "situations" / "10-credit-overrun.pcapng"
GRANT, REQUEST = "RFC8166-3.3.1-4", "RFC8166-3.3.1-6"


def finding(number=1, **changed):
    """One as rows of `judged` have it."""
    return {
        "id": GRANT,
        "rule": "calls_stay_within_grant",
        "culprit": "client",
        "actor": "client",
        "kind": "send",
        "number": number,
        "expected": "at most 2",
        "observed": f"outstanding call {number}",
        **changed,
    }


def shown(number=1, **changed):
    """The same as a capture has it."""
    return Found(**finding(number, **changed))


def connection(row, found, own="client", **options):
    return live_agreement.compare_connection(row, found, own, **options)


def test_the_same_findings_agree_in_any_order():
    row = {"port": 1, "findings": [finding(1), finding(2)]}
    assert connection(row, [shown(2), shown(1)]) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"id": REQUEST},
        {"rule": "calls_stay_within_request"},
        {"culprit": "server"},
        {"actor": "server"},
        {"kind": "rdma_write"},
        {"number": 2},
        {"expected": "at most 3"},
        {"observed": "nothing"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_whatever_of_a_finding_differs_is_found(changed):
    problems = connection({"port": 1, "findings": [finding()]}, [shown(**changed)])
    assert [each.partition(":")[0] for each in problems] == ["only live", "only in the capture"]


def test_a_finding_more_or_less_is_found():
    row = {"port": 1, "findings": [finding(), finding()]}
    (problem,) = connection(row, [shown()])
    assert problem.startswith("only live: RFC8166-3.3.1-4 (calls_stay_within_grant) by the client")
    (problem,) = connection(row, [shown()] * 3)
    assert problem.startswith("only in the capture: ")


def test_receives_are_known_to_their_owner_alone():
    own = finding(rule="receive_is_as_announced", kind="receive_posted")
    row = {"port": 1, "findings": [own, finding()]}
    assert connection(row, [shown()]) == []
    assert len(connection(row, [])) == 1


def test_a_fault_hook_gives_no_event():
    row = {"port": 1, "findings": [finding(2)], "sight_lost": True}
    row["events"] = {"client": {"send": 2}, "server": {}}
    by_hook = [shown(3), shown(1, kind="rdma_read")]
    assert connection(row, [shown(2), *by_hook]) == []
    # A finding that needs nothing the judge missed is still found.
    later = {**row, "findings": [finding(2), finding(3)]}
    assert connection(later, [shown(2), shown(3)]) == []
    assert len(connection(later, [shown(2)])) == 1
    # But what there was an event for was judged, and so was the target.
    assert len(connection(row, [shown(2), shown(1)])) == 1
    assert len(connection(row, [shown(2), shown(1, culprit="server", actor="server")])) == 1
    assert len(connection(row, by_hook)) == 1
    assert len(connection(row, [shown(2), *by_hook], own="server")) == 2


def test_what_our_own_provider_refused_gave_no_event():
    row = {"port": 1, "findings": [finding(1)]}
    row["events"] = {"client": {"send": 2, "terminate": 1}, "server": {"send": 2}}
    refused = shown(3, culprit="server", actor="server")
    assert connection(row, [shown(1), refused]) == []
    # But the next Send of the target alone, and only if it was refused.
    for other in ({"number": 2}, {"number": 4}, {"kind": "rdma_write"}, {"actor": "client"}):
        assert len(connection(row, [shown(1), shown(**{**vars(refused), **other})])) == 1
    row["events"]["client"].pop("terminate")
    assert len(connection(row, [shown(1), refused])) == 1
    row.pop("events")
    assert len(connection(row, [shown(1), refused])) == 1


def test_a_capture_need_not_show_what_stands_behind_a_loss():
    row = {"port": 1, "findings": [finding(2), finding(5)]}
    sends = {"client": 2, "server": 9}
    assert connection(row, [shown(2)], sends=sends) == []
    assert connection(row, [shown(2), shown(5)], sends=sends) == []
    # But what stands before it, and nothing that was not found live.
    assert len(connection(row, [shown(5)], sends=sends)) == 1
    assert len(connection(row, [shown(2), shown(4)], sends=sends)) == 1
    assert len(connection(row, [shown(2)], sends={"client": 5, "server": 9})) == 1
    row["findings"][1]["kind"] = "rdma_write"
    assert len(connection(row, [shown(2)], sends=sends)) == 1


def test_the_last_send_of_the_suite_need_not_leave_whole():
    row = {"port": 1, "findings": [finding(2), finding(5)]}
    assert connection(row, [shown(2)], whole=4) == []
    assert connection(row, [shown(2), shown(5)], whole=5) == []
    # But all before it have left, and so had a later one.
    assert len(connection(row, [shown(5)], whole=5)) == 1
    assert len(connection(row, [shown(2)], whole=5)) == 1
    assert len(connection(row, [shown(2)], whole=3)) == 1
    assert len(connection(row, [shown(2)], own="server", whole=4)) == 1


def test_a_cut_capture_shows_the_first_findings():
    row = {"port": 1, "findings": [finding(1), finding(2)]}
    assert connection(row, [shown(1)], cut=True) == []
    assert len(connection(row, [shown(2)], cut=True)) == 2
    assert len(connection(row, [shown(1), shown(2), shown(3)], cut=True)) == 1


def test_findings_beyond_those_kept_take_the_place_of_those_unseen():
    own = finding(rule="guards_stay_intact")
    row = {"port": 1, "findings": [own, finding(1)], "dropped": 7}
    assert connection(row, [shown(1), shown(2)]) == []
    assert len(connection(row, [shown(1), shown(2), shown(3)])) == 1
    assert len(connection(row, [shown(2), shown(3)])) == 2


def test_sends_before_a_loss_are_counted(tmp_path):
    link_type, frames = capture_files.read(SITUATION.read_bytes())
    assert (
        visible_findings.sends_before_loss(SITUATION, grade_file(str(SITUATION), []).connections[0])
        is None
    )
    # Without the second of three calls in a row, which was in frame 9.
    gap = tmp_path / "gap.pcapng"
    gap.write_bytes(capture_files.pcapng("a gap", link_type, frames[:8] + frames[9:]))
    (connection,) = grade_file(str(gap), []).connections
    (loss,) = connection.losses.values()
    sends = visible_findings.sends_before_loss(gap, connection)
    assert (loss["first_frame"], sends) == (9, {"client": 2, "server": 1})


# -- with a capture ------------------------------------------------------------------------------


@pytest.fixture
def case():
    """The row of report.json for a case that would have left the capture."""
    findings = [
        {
            "id": row.requirement.id,
            "rule": row.rule,
            "culprit": row.culprit,
            "actor": row.event[0].name,
            "kind": row.event[1],
            "number": row.event[2],
            "expected": row.expected,
            "observed": row.observed.replace("frame", "event"),
        }
        for row in grade_file(str(SITUATION), []).rows
    ]
    judged = [{"port": 50000, "findings": findings}]
    return {"id": "server.a.case", "judged": judged, "capture": "captures/a.pcapng"}


def test_a_capture_that_agrees(case):
    graded = grade_file(str(SITUATION), [])
    assert [each.requirement.id for each in graded.rows] == [GRANT, REQUEST]
    assert live_agreement.compare(case, graded) == []


@pytest.mark.parametrize(
    "end, client, title",
    [
        ("192.0.2.1:50003", ("port", 50003), "port 50003"),
        ("[2001:db8::1]:50003", ("port", 50003), "port 50003"),
        ("192.0.2.1 qp 0x0001ab", ("queue_pair", 0x1AB), "queue pair 0x0001ab"),
        ("2001:db8::1 qp 0x0001ab", ("queue_pair", 0x1AB), "queue pair 0x0001ab"),
        ("192.0.2.1 qp unknown", ("queue_pair", None), "queue pair unknown"),
    ],
)
def test_the_client_of_an_end(end, client, title):
    assert live_agreement.client_of_end(end) == client
    assert live_agreement.title(client) == title


@pytest.mark.parametrize("client", [("port", 50003), ("queue_pair", 0x1AB)])
def test_the_client_of_a_row(client):
    assert live_agreement.client_of_row({client[0]: client[1], "findings": []}) == client


def over_roce(case, *sends):
    """The case's capture as of connections of one queue pair, the first with its findings. Each side has so many
    Sends."""
    graded = grade_file(str(SITUATION), [])
    (only,) = graded.connections
    connections = [
        types.SimpleNamespace(
            number=only.number + index,
            client_end="192.0.2.1 qp 0x000012",
            losses=only.losses,
            client=types.SimpleNamespace(sends=count),
            server=types.SimpleNamespace(sends=count),
        )
        for index, count in enumerate(sends)
    ]
    del case["judged"][0]["port"]
    case["judged"][0]["queue_pair"] = 0x12
    return types.SimpleNamespace(
        error=None, path=graded.path, rows=graded.rows, connections=connections
    )


def test_a_request_for_a_queue_pair_in_use_is_no_second_connection(case):
    graded = over_roce(case, 4, 0)
    assert live_agreement.compare(case, graded) == []
    for each in graded.connections:
        each.server.sends = 1
    assert live_agreement.compare(case, graded) == [
        "queue pair 0x000012: the capture has 2 connections"
    ]


def test_connections_over_roce_are_told_apart_by_their_queue_pairs(case):
    graded = over_roce(case, 4)
    assert live_agreement.compare(case, graded) == []
    case["judged"][0]["queue_pair"] = 0x13
    titles = {each.partition(":")[0] for each in live_agreement.compare(case, graded)}
    assert titles == {"queue pair 0x000012", "queue pair 0x000013"}


def test_no_judge_sees_a_stream_of_octets(case):
    case["judged"] = [{"port": 50000, "octets": True, "findings": []}]
    assert live_agreement.compare(case, grade_file(str(SITUATION), [])) == []


def test_what_a_capture_shows_of_a_connection_without_a_live_judge(case):
    case["judged"][0]["port"] = 50001
    problems = live_agreement.compare(case, grade_file(str(SITUATION), []))
    assert [each.split(": ")[:2] for each in problems] == [
        ["port 50001", "only live"],
        ["port 50001", "only live"],
        ["port 50000", f"not judged live, but the capture shows {GRANT} (calls_stay_within_grant) "
         "by the client at send 4 of the client"],
        ["port 50000", f"not judged live, but the capture shows {REQUEST} "
         "(calls_stay_within_request) by the client at send 4 of the client"],
    ]  # fmt: skip


def test_a_damaged_capture_is_a_problem(case, tmp_path):
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(SITUATION.read_bytes()[:-7])
    (problem,) = live_agreement.compare(case, grade_file(str(cut), []))
    assert problem.startswith("the capture is no whole file: ")


def report(folder, *cases):
    (folder / "captures").mkdir()
    (folder / "captures" / "a.pcapng").write_bytes(SITUATION.read_bytes())
    (folder / "report.json").write_text(json.dumps({"cases": cases}))
    return folder


def test_every_case_of_a_report_is_compared(case, tmp_path):
    other, gone, none = (copy.deepcopy(case) for _ in range(3))
    other["judged"][0]["findings"].pop()
    gone["capture"] = "captures/gone.pcapng"
    none["capture"] = None
    quiet = {**none, "judged": []}
    folder = report(tmp_path, case, other, gone, none, quiet)
    results, paths = zip(*live_agreement.results_of_report(folder))
    assert [len(each.problems) for each in results] == [0, 1, 1, 1]
    assert "its capture is missing" in results[2].problems[0]
    assert "no capture" in results[3].problems[0]
    assert paths == (tmp_path / "captures/a.pcapng",) * 2 + (None, None)


def test_a_folder_without_a_report_cannot_be_compared(tmp_path, capsys):
    with pytest.raises(CannotCompare, match="no report of a suite"):
        list(live_agreement.results_of_report(tmp_path))
    assert agreement_command.main(["--no-plugin", str(tmp_path)]) == 2
    assert "no report of a suite" in capsys.readouterr().err


def test_the_command_tells_what_differs(case, tmp_path, capsys):
    case["judged"][0]["findings"][0]["id"] = REQUEST
    assert agreement_command.main(["--no-plugin", str(report(tmp_path, case))]) == 1
    said = capsys.readouterr().out
    assert said.count("server.a.case: port 50000: only") == 2
    assert "0 agree, 1 do not" in said


def test_fixtures_need_what_was_judged_live(case, tmp_path):
    (tmp_path / "a.pcapng").write_bytes(SITUATION.read_bytes())
    (tmp_path / "b.pcapng").write_bytes(SITUATION.read_bytes())
    judged = {"a": case, "c": case}
    results = [result for result, _ in live_agreement.results_of_fixtures(tmp_path, judged)]
    assert [each.problems for each in results] == [
        [],
        ["nothing is kept of what was judged live"],
        [f"its capture is missing: {tmp_path / 'c.pcapng'}"],
    ]

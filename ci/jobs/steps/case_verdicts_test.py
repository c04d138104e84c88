"""What two runs of a suite are compared by."""

import json

from ci.jobs.steps.case_verdicts import differences, lines


def test_a_line_has_verdict_case_and_reason_only(tmp_path):
    case = {"id": "server.a.b", "verdict": "fail", "reason": "saw silence", "seconds": 0.3}
    (tmp_path / "report.json").write_text(json.dumps({"cases": [case]}))
    assert list(lines(tmp_path)) == ["fail server.a.b saw silence"]


def test_cases_can_be_left_out_by_a_part_of_their_names(tmp_path):
    cases = [{"id": f"server.{topic}.a", "verdict": "pass", "reason": ""} for topic in ("b", "c")]
    (tmp_path / "report.json").write_text(json.dumps({"cases": cases}))
    assert list(lines(tmp_path, leave_out=(".b.",))) == ["pass server.c.a "]


def test_what_differs_is_shown_as_a_diff():
    before = ["pass server.a.b ", "pass server.a.c "]
    assert differences(before, list(before)) == []
    now = [before[0], "fail server.a.c saw silence"]
    assert differences(before, now)[-2:] == ["-pass server.a.c ", "+fail server.a.c saw silence"]

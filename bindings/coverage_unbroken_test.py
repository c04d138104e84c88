"""What no deviation breaks: rows, each of which needs a reason, and cases."""

import pytest

from coverage_rows import build, case, CLIENT_CASE, deviation, entry, SERVER_CASE
from steertag.coverage import gate, text, unbroken_cases, unbroken_rows
from steertag.coverage.deviation_results import Catch


def unbroken_sample():
    """A broken row, one that is not, a permission, and one without a case."""
    rows = [entry(), entry("RFC8166-1-2"), entry("RFC8166-1-3", level="MAY"), entry("RFC8166-1-4")]
    return build(
        rows, [case("server.a.b", *(row.id for row in rows[:3]))], [deviation("breaks-it")]
    )


def test_rows_with_cases_that_nothing_breaks_need_a_reason():
    found = unbroken_sample()
    assert [row.requirement.id for row in gate.unbroken(found)] == ["RFC8166-1-2"]
    assert list(gate.unbroken_problems(found, {"RFC8166-1-2": "nobody can"})) == []
    assert list(gate.unbroken_problems(found, {})) == [
        "RFC8166-1-2 (MUST, both): no deviation breaks it"
    ]


@pytest.mark.parametrize(
    "listed, why",
    [
        ("RFC8166-1-1", "breaks-it breaks it: strike"),
        ("RFC8166-1-3", "permits only: strike"),
        ("RFC8166-1-4", "has no case: strike"),
        ("RFC8166-9-9", "is no requirement of the ledger"),
    ],
)
def test_stale_reasons_fail(listed, why):
    reasons = {"RFC8166-1-2": "nobody can", listed: "for long"}
    (problem,) = gate.unbroken_problems(unbroken_sample(), reasons)
    assert problem.startswith(f"{listed} is listed as unbroken, and {why}")


def test_reasons_are_read_from_a_file(tmp_path):
    path = tmp_path / "unbroken.txt"
    path.write_text("# remark\n\nRFC8166-1-2  nobody can # do it\n")
    assert unbroken_rows.read(path) == {"RFC8166-1-2": "nobody can # do it"}
    for content, problem in (
        ("RFC8166-1-2\n", "line 1: RFC8166-1-2 has no reason"),
        ("RFC8166-1-2 a\nRFC8166-1-2 b\n", "line 2: RFC8166-1-2 is there twice"),
    ):
        path.write_text(content)
        with pytest.raises(unbroken_rows.BadUnbrokenRows, match=problem):
            unbroken_rows.read(path)
    with pytest.raises(unbroken_rows.BadUnbrokenRows, match="cannot be read"):
        unbroken_rows.read(tmp_path / "none.txt")


def test_cases_that_no_deviation_makes_fail_are_listed():
    """By what they claim, until each deviation of their side was tried on all of them."""
    rows = [entry(), entry("RFC8166-1-2"), entry("RFC8166-1-3", role="server")]
    cases = [SERVER_CASE, CLIENT_CASE, case("server.c.d", "RFC8166-1-2", "RFC8166-1-3")]
    defects = [deviation("d"), deviation("e", requirement="RFC8166-1-2", side="client")]
    by_claim = unbroken_cases.unbroken_cases(build(rows, cases, defects))
    assert [(one.side, one.cases, one.of) for one in by_claim] == [
        ("server", ("server.c.d",), 2),
        ("client", ("client.a.b",), 1),
    ]
    one = Catch("caught", "server.c.d", ("server.c.d",), True)
    tried = unbroken_cases.unbroken_cases(
        build(rows, cases, defects, catches={("d", "RFC8166-1-1"): one})
    )
    assert [(one.side, one.cases, one.tried) for one in tried] == [
        ("server", ("server.a.b",), True),
        ("client", ("client.a.b",), False),
    ]
    assert list(text.unbroken_cases(tried)) == [
        "1 of 2 cases for servers no deviation made fail",
        "  server.a.b",
        "1 of 1 cases for clients claim no row that a deviation breaks",
        "  client.a.b",
    ]

"""What no deviation breaks: rows, each of which needs a reason, and cases."""

import pytest

from coverage_rows import build, case, CLIENT_CASE, deviation, entry, SERVER_CASE
from steertag.coverage import gate, reasons, text, unbroken_cases, unbroken_rows
from steertag.coverage.deviation_results import Catch


def unbroken_sample():
    """A row that is broken for the server and not for the client, one that is not broken at all, a
    permission, one without a case, and one that is broken for both."""
    rows = [
        entry(),
        entry("RFC8166-1-2"),
        entry("RFC8166-1-3", level="MAY"),
        entry("RFC8166-1-4"),
        entry("RFC8166-1-5"),
        entry("RFC8166-1-6", role="client"),
    ]
    named = [row.id for row in rows if row.id != "RFC8166-1-4"]
    return build(
        rows,
        [case("server.a.b", *named), case("client.a.b", *named[:-1])],
        [
            deviation("breaks-it", also=("RFC8166-1-5",)),
            deviation("breaks-it-too", requirement="RFC8166-1-5", side="client"),
        ],
    )


TOLD = {
    ("RFC8166-1-1", "client"): "nobody can",
    ("RFC8166-1-2", ""): "nobody can",
}


def test_rows_with_cases_that_nothing_breaks_need_a_reason_for_each_side():
    found = unbroken_sample()
    assert [(row.requirement.id, side) for row, side in gate.unbroken(found)] == [
        ("RFC8166-1-1", "client"),
        ("RFC8166-1-2", "server"),
        ("RFC8166-1-2", "client"),
    ]
    assert list(gate.unbroken_problems(found, TOLD)) == []
    apart = {("RFC8166-1-2", side): "nobody can" for side in ("server", "client")}
    assert list(gate.unbroken_problems(found, apart)) == [
        "RFC8166-1-1 (MUST, both): no deviation of the client breaks it"
    ]
    assert list(gate.unbroken_problems(found, {("RFC8166-1-2", "client"): "nobody can"})) == [
        "RFC8166-1-1 (MUST, both): no deviation of the client breaks it",
        "RFC8166-1-2 (MUST, both): no deviation of the server breaks it",
    ]


@pytest.mark.parametrize(
    "listed, side, why",
    [
        ("RFC8166-1-1", "server", "breaks-it breaks it: strike"),
        ("RFC8166-1-3", "", "permits only: strike"),
        ("RFC8166-1-4", "", "has no case: strike"),
        ("RFC8166-1-4", "server", "has no case for servers: strike"),
        ("RFC8166-1-5", "", "breaks-it breaks it: strike"),
        ("RFC8166-1-5", "client", "breaks-it-too breaks it: strike"),
        ("RFC8166-1-6", "server", "has no case for servers: strike"),
        ("RFC8166-9-9", "", "is no requirement of the ledger"),
    ],
)
def test_stale_reasons_fail(listed, side, why):
    (problem,) = gate.unbroken_problems(unbroken_sample(), TOLD | {(listed, side): "for long"})
    assert problem.startswith(
        f"{' '.join([listed, side]).strip()} is listed as unbroken, and {why}"
    )


def test_a_reason_for_a_row_that_is_broken_for_one_side_names_the_other():
    told = {("RFC8166-1-1", ""): "nobody can", ("RFC8166-1-2", ""): "nobody can"}
    (problem,) = gate.unbroken_problems(unbroken_sample(), told)
    assert problem == (
        "RFC8166-1-1 is listed as unbroken, and breaks-it breaks it for servers: name the side"
    )


def test_reasons_are_read_from_a_file(tmp_path):
    path = tmp_path / "unbroken.txt"
    path.write_text("# remark\n\nRFC8166-1-2  nobody can # do it\nRFC8166-1-3  client: it cannot\n")
    assert unbroken_rows.read(path) == {
        ("RFC8166-1-2", ""): "nobody can # do it",
        ("RFC8166-1-3", "client"): "it cannot",
    }
    for content, problem in (
        ("RFC8166-1-2\n", "line 1: RFC8166-1-2 has no reason"),
        ("RFC8166-1-2 server:\n", "line 1: RFC8166-1-2 has no reason"),
        ("RFC8166-1-2 a\nRFC8166-1-2 b\n", "line 2: RFC8166-1-2 is there twice"),
        ("RFC8166-1-2 a\nRFC8166-1-2 client: b\n", "line 2: RFC8166-1-2 is there twice"),
        ("RFC8166-1-2 client: a\nRFC8166-1-2 b\n", "line 2: RFC8166-1-2 is there twice"),
    ):
        path.write_text(content)
        with pytest.raises(reasons.BadReasons, match=problem):
            unbroken_rows.read(path)
    path.write_text("RFC8166-1-2 client: a\nRFC8166-1-2 server: b\n")
    assert len(unbroken_rows.read(path)) == 2
    with pytest.raises(reasons.BadReasons, match="cannot be read"):
        unbroken_rows.read(tmp_path / "none.txt")


def test_cases_that_no_deviation_makes_fail_are_listed():
    """By what they claim, until each deviation of their side was tried on all of them."""
    rows = [entry(), entry("RFC8166-1-2"), entry("RFC8166-1-3", role="server")]
    cases = [SERVER_CASE, CLIENT_CASE, case("server.c.d", "RFC8166-1-2", "RFC8166-1-3")]
    defects = [deviation("d"), deviation("e", requirement="RFC8166-1-2", side="client")]
    by_claim = unbroken_cases.unbroken_cases(build(rows, cases, defects))
    assert [(one.side, one.cases, len(one.every)) for one in by_claim] == [
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


def cases_sample(catches=None):
    """Cases that claim what a deviation breaks, and two that do not."""
    rows = [entry(), entry("RFC8166-1-2")]
    cases = [case("server.a.b", "RFC8166-1-1"), case("server.a.c", "RFC8166-1-1", "RFC8166-1-2")]
    cases += [case(f"server.c.{name}", "RFC8166-1-2") for name in "de"]
    return unbroken_cases.unbroken_cases(build(rows, cases, [deviation("d")], catches=catches))


def lines(*patterns, measured=()):
    return [unbroken_cases.Listed(each, each in measured, "why") for each in (*patterns, *measured)]


def tried(*failed):
    return {("d", "RFC8166-1-1"): Catch("caught", failed[0], failed, True)}


@pytest.mark.parametrize(
    "listed, problems",
    [
        (lines("server.c.*"), []),
        (lines("server.c.d", "server.c.e"), []),
        (lines("server.c.d"), ["server.c.e claims no row that a deviation of the server breaks"]),
        (
            lines("server.?.*"),
            [
                "server.?.* is listed as unbroken, and server.a.b claims a row that a deviation of the "
                "server breaks: strike it"
            ],
        ),
        (
            lines("server.c.*", "client.c.*"),
            ["client.c.* is listed as unbroken, and is the id of no case: strike it"],
        ),
        (lines("server.c.*", measured=["server.a.c"]), []),
    ],
)
def test_cases_that_claim_nothing_broken_are_listed(listed, problems):
    assert list(unbroken_cases.case_problems(cases_sample(), listed)) == problems


@pytest.mark.parametrize(
    "failed, measured, problems",
    [
        (["server.a.b", "server.a.c"], [], []),
        (["server.a.b", "server.a.c", "server.c.d"], [], []),
        (["server.a.b"], [], ["server.a.c: no deviation of the server made it fail"]),
        (["server.a.b"], ["server.a.c"], []),
        (
            ["server.a.b", "server.a.c"],
            ["server.a.c"],
            [
                "server.a.c is listed as unbroken, and a deviation of the server makes server.a.c fail, or "
                "it is listed by its claims: strike it"
            ],
        ),
    ],
)
def test_what_runs_gave_is_compared_once_all_were_tried(failed, measured, problems):
    found = cases_sample(tried(*failed))
    listed = lines("server.c.*", measured=measured)
    assert list(unbroken_cases.case_problems(found, listed)) == problems


def test_a_list_of_cases_is_read_from_a_file(tmp_path):
    path = tmp_path / "cases.txt"
    path.write_text("# remark\nserver.c.*  nobody can\nserver.a.c  measured: it never did\n")
    assert unbroken_cases.read(path) == [
        unbroken_cases.Listed("server.c.*", False, "nobody can"),
        unbroken_cases.Listed("server.a.c", True, "it never did"),
    ]
    path.write_text("server.c.*\n")
    with pytest.raises(reasons.BadReasons, match="line 1: server.c.* has no reason"):
        unbroken_cases.read(path)

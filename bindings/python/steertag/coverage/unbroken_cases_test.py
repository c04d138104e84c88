"""Rows and cases that no deviation breaks, and the reasons that they need."""

import pytest

from steertag import suite
from steertag.coverage import coverage_text, gate, unbroken_cases
from steertag.coverage.deviation_results import Catch
from steertag.suite.cases.collection import collect_apart
from steertag.testing.coverage_rows import build, case, CLIENT_CASE, deviation, entry, SERVER_CASE


def unbroken_sample(**reasons):
    """Rows broken for the server, for both sides, and not at all. Also a permission, a row without
    a case, and a row of the client."""
    rows = [
        entry("RFC8166-1-1", unbroken=reasons.get("half", {"client": "it cannot"})),
        entry("RFC8166-1-2", unbroken=reasons.get("whole", {"server": "no", "client": "no"})),
        entry("RFC8166-1-3", unbroken=reasons.get("permission", {}), level="MAY"),
        entry("RFC8166-1-4", unbroken=reasons.get("caseless", {})),
        entry("RFC8166-1-5", unbroken=reasons.get("broken", {})),
        entry("RFC8166-1-6", unbroken=reasons.get("one", {}), role="client"),
    ]
    named = [row.id for row in rows if row.id != "RFC8166-1-4"]
    return build(
        rows,
        [case("server.a.b", *named[:-1]), case("client.a.b", *named)],
        [
            deviation("breaks-it", also=("RFC8166-1-5",)),
            deviation("breaks-it-too", requirement="RFC8166-1-5", side="client"),
            deviation("breaks-one", requirement="RFC8166-1-6", side="client"),
        ],
    )


def test_rows_with_cases_that_nothing_breaks_need_a_reason_for_each_side():
    found = unbroken_sample()
    assert [(row.requirement.id, side) for row, side in gate.unbroken(found)] == [
        ("RFC8166-1-1", "client"),
        ("RFC8166-1-2", "server"),
        ("RFC8166-1-2", "client"),
    ]
    assert list(gate.unbroken_problems(found)) == []
    assert list(gate.unbroken_problems(unbroken_sample(half={}))) == [
        "RFC8166-1-1 (MUST, both): no deviation of the client breaks it"
    ]
    assert list(gate.unbroken_problems(unbroken_sample(half={}, whole={"client": "no"}))) == [
        "RFC8166-1-1 (MUST, both): no deviation of the client breaks it",
        "RFC8166-1-2 (MUST, both): no deviation of the server breaks it",
    ]


@pytest.mark.parametrize(
    "reasons, problem",
    [
        ({"half": {"server": "x", "client": "x"}}, "RFC8166-1-1 server breaks-it does"),
        ({"permission": {"server": "x"}}, "RFC8166-1-3 server permits only"),
        ({"caseless": {"client": "x"}}, "RFC8166-1-4 client has no case for clients"),
        ({"caseless": {"server": "x"}}, "RFC8166-1-4 server has no case for servers"),
        ({"broken": {"server": "x"}}, "RFC8166-1-5 server breaks-it does"),
        ({"broken": {"client": "x"}}, "RFC8166-1-5 client breaks-it-too does"),
        ({"one": {"client": "x"}}, "RFC8166-1-6 client breaks-one does"),
    ],
)
def test_stale_reasons_fail(reasons, problem):
    name, side, why = problem.split(maxsplit=2)
    assert list(gate.unbroken_problems(unbroken_sample(**reasons))) == [
        f"{name} gives a reason why no deviation of the {side} breaks it, and {why}: strike the reason"
    ]


def test_cases_that_no_deviation_makes_fail_are_listed():
    """By claim, until each deviation of their side was tried on all cases."""
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
    assert list(coverage_text.unbroken_cases(tried)) == [
        "1 of 2 cases for servers no deviation made fail",
        "  server.a.b",
        "1 of 1 cases for clients claim no row that a deviation breaks",
        "  client.a.b",
    ]


def cases_sample(catches=None, unbroken=("d", "e"), unfailed=()):
    """Problems with the reasons of cases that claim a broken row, and of two that do not."""
    rows = [entry(), entry("RFC8166-1-2")]
    claims = {"a.b": ["RFC8166-1-1"], "a.c": ["RFC8166-1-1", "RFC8166-1-2"]}
    claims |= {f"c.{name}": ["RFC8166-1-2"] for name in "de"}
    cases = [
        case(
            f"server.{name}",
            *named,
            unbroken="it cannot" if name[-1] in unbroken else "",
            unfailed={
                each: "it never did" for each in unfailed if each.startswith("server." + name)
            },
        )
        for name, named in claims.items()
    ]
    found = unbroken_cases.unbroken_cases(build(rows, cases, [deviation("d")], catches=catches))
    return list(unbroken_cases.case_problems(found, cases))


def tried(*failed):
    return {("d", "RFC8166-1-1"): Catch("caught", failed[0], failed, True)}


@pytest.mark.parametrize(
    "unbroken, unfailed, problems",
    [
        ("de", [], []),
        ("d", [], ["server.c.e claims no row that a deviation of the server breaks"]),
        (
            "bde",
            [],
            ["server.a.b claims a row that a deviation of the server breaks: strike `unbroken`"],
        ),
        (
            "de",
            ["server.a.cc"],
            ["server.a.cc is in `unfailed` of a case, and is no variant of it: strike it"],
        ),
        ("de", ["server.a.c"], []),
    ],
)
def test_cases_that_claim_nothing_broken_say_why(unbroken, unfailed, problems):
    assert cases_sample(unbroken=unbroken, unfailed=unfailed) == problems


@pytest.mark.parametrize(
    "failed, unfailed, problems",
    [
        (["server.a.b", "server.a.c"], [], []),
        (["server.a.b", "server.a.c", "server.c.d"], [], []),
        (["server.a.b"], [], ["server.a.c: no deviation of the server made it fail"]),
        (["server.a.b"], ["server.a.c"], []),
        (
            ["server.a.b", "server.a.c"],
            ["server.a.c"],
            [
                "server.a.c is in `unfailed`, and a deviation makes it fail, or it claims no row that one "
                "breaks: strike it"
            ],
        ),
    ],
)
def test_what_runs_gave_is_compared_once_all_were_tried(failed, unfailed, problems):
    assert cases_sample(tried(*failed), unfailed=unfailed) == problems


def test_the_reasons_of_a_case_are_collected(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\naddopts = '-p steertag.suite.plugin'\n"
    )
    (tmp_path / "test_it.py").write_text(
        "from steertag.suite import case\n"
        "@case('server.it.works', ['RFC8166-1-1'], unbroken='a', unfailed={'server.it.works': 'b'})\n"
        "def test_it(bench):\n    bench.connect()\n"
    )
    (found,) = collect_apart([tmp_path])
    assert (found.unbroken, found.unfailed) == ("a", {"server.it.works": "b"})


@pytest.mark.parametrize("reasons", [{"unbroken": " "}, {"unfailed": {"server.a.b": ""}}])
def test_a_reason_is_a_sentence(reasons):
    with pytest.raises(ValueError, match="server.a.b"):
        suite.case("server.a.b", ["RFC8166-1-1"], **reasons)

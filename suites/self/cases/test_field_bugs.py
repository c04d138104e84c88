"""The table of defects in the field: what it says of cases and deviations is so, and it leaves none out."""

import pytest
import yaml

from steertag import build_paths, peer, suites_place, trace
from steertag.suite.cases import collection

# So that none gets lost.
KNOWN = 57
WORDS = {"what", "cases", "deviations", "why"}


@pytest.fixture(scope="module")
def table():
    path = build_paths.checkout() / "suites" / "field-bugs.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cases():
    return collection.collect_apart(suites_place.folders())


def cases_of(row, cases):
    """[CaseEntry] of each name in the row; a name that ends like a beginning means all of these."""
    named = []
    for name in row.get("cases", ()):
        whole = not name.endswith((".", "-"))
        found = [one for one in cases if (one.id == name if whole else one.id.startswith(name))]
        named.append(found)
    return named


def test_each_row_has_a_deviation_or_the_reason_why_not(table):
    assert len(table) == KNOWN
    for bug, row in table.items():
        assert set(row) <= WORDS and row["what"], bug
        assert bool(row.get("deviations")) != bool(row.get("why")), bug
        assert row.get("cases") or row.get("why"), bug


def test_cases_exist_and_name_the_defect(table, cases):
    for bug, row in table.items():
        for name, found in zip(row.get("cases", ()), cases_of(row, cases)):
            assert any(bug in one.bugs for one in found), f"{bug}: {name} is no case that names it"


def test_no_case_names_a_defect_that_has_no_row(table, cases):
    for one in cases:
        for bug in one.bugs:
            assert table.get(bug, {}).get("cases"), f"{one.id} names {bug}"


def test_deviations_break_what_the_cases_claim(table, cases):
    rows = {}
    for role in (trace.Role.server, trace.Role.client):
        for made in peer.deviations(role):
            rows.setdefault(made.name, []).append(made)
    for bug, row in table.items():
        named = [one for found in cases_of(row, cases) for one in found if bug in one.bugs]
        claimed = {(one.id.partition(".")[0], each) for one in named for each in one.requirements}
        for name in row.get("deviations", ()):
            broken = {
                (made.side, each)
                for made in rows.get(name, ())
                for each in (made.requirement, *made.also)
            }
            assert broken & claimed, f"{bug}: no case of the row claims what {name} breaks"

"""The rows of a matrix, and which of them differ."""

import pytest

from steertag.matrix import table
from steertag.matrix.case_list import topics
from steertag.matrix.load_target import load_target, of_baseline, of_report
from steertag.testing.run_files import entry, row, write_baseline, write_report

FIRST, SECOND = "RFC8166-4.5.1-1", "RFC8166-3.3.1-8"
CASES = ("server.header.one", "server.header.two")


@pytest.fixture
def report(tmp_path):
    """A run in which the second case fails, for another requirement than it claims first."""
    failing = entry(CASES[1], "fail", f"{SECOND}: expected reply", (FIRST, SECOND))
    path = write_report(tmp_path / "report.json", [entry(CASES[0]), failing])
    return of_report(path)


@pytest.fixture
def baseline(tmp_path):
    other = {"or": [{"verdict": "pass", "reason": ""}]}
    rows = [row(CASES[0], reason=f"{FIRST}: saw silence") | other]
    return of_baseline(write_baseline(tmp_path / "it.yaml", rows, cases=9))


def counts(found):
    """{key: the counts of each cell} of rows."""
    return {row.key: [cell and cell.counts() for cell in row.cells] for row in found}


def test_a_row_counts_the_cases_that_break_a_requirement(report, baseline):
    """The baseline has no row for the second case, which thus passes and keeps its requirement."""
    assert counts(table.rows([report, baseline])) == {
        SECOND: [{"fail": 1}, {"pass": 1}],
        FIRST: [{"pass": 1}, {"fail": 1}],
    }


def test_requirements_are_in_reading_order_and_unknown_ones_come_last(tmp_path):
    names = ("RFC8166-3.3.1-8", "RFC8166-3.3.1-10", "RFC5040-5.2.1-1", "RFC1-0-1")
    rows = [row(f"server.a.{number}", requirement=name) for number, name in enumerate(names)]
    target = of_baseline(write_baseline(tmp_path / "it.yaml", rows[::-1]))
    assert [each.key for each in table.rows([target])] == list(names)


def test_a_row_can_be_a_case(report, baseline):
    found = counts(table.rows([report, baseline], table.CASE))
    assert found == {CASES[0]: [{"pass": 1}, {"fail": 1}], CASES[1]: [{"fail": 1}, {"pass": 1}]}


def test_a_row_differs_by_case_and_verdict(tmp_path, report, baseline):
    assert all(each.differs() for each in table.rows([report, baseline]))
    assert not any(each.differs() for each in table.rows([baseline, baseline]))
    otherwise = of_baseline(write_baseline(tmp_path / "other.yaml", [row(CASES[0])]))
    (found,) = table.rows([baseline, otherwise])
    assert found.differs(), "one of them passes at times"


def test_a_case_that_was_not_run_says_nothing(tmp_path, report):
    path = write_report(tmp_path / "part.json", [entry(CASES[0])], partial=True)
    part = of_report(path)
    found = {each.key: each for each in table.rows([report, part])}
    assert found[SECOND].cells[1] is None and not found[SECOND].differs()
    assert found[FIRST].passes() and not found[SECOND].passes()


def test_servers_and_clients_have_tables_of_their_own(tmp_path, report):
    client = of_baseline(write_baseline(tmp_path / "it.yaml", [row("client.a.b")]))
    assert table.by_side([client, report]) == [("server", [report]), ("client", [client])]
    (found,) = table.rows([report, client], side="client")
    assert found.key == FIRST and found.cells[0] is None


def test_a_target_counts_its_passes_if_it_knows_its_cases(report, baseline, tmp_path):
    assert report.counts() == {"fail": 1, "pass": 1}
    assert baseline.counts() == {"fail": 1, "pass": 8}
    unknown = of_baseline(write_baseline(tmp_path / "other.yaml", [row(CASES[0])]))
    assert unknown.counts() == {"fail": 1} and unknown.about() == ""
    assert report.about() == "Steertag 0.1.0; 2 cases"


def test_a_shipped_baseline_is_known_by_its_name():
    target = load_target("linux-6.12-siw")
    assert target.name == "linux-6.12-siw" and target.software.startswith("Linux 6.12")


def test_cases_of_one_topic_are_one():
    many = [f"server.nfs4.retry.read-{number}" for number in range(4)]
    assert topics([*many, "server.threshold.stays", "odd"]) == [
        "odd",
        "nfs4.retry.* (4)",
        "threshold.stays",
    ]

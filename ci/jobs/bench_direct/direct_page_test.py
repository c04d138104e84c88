"""The page of a run has each row or says why it is not there, and tells whether the floors are met."""

import dataclasses

import pytest

from ci.jobs.bench_direct import raw
from ci.jobs.bench_direct.bench_direct_command import ROWS, parse
from ci.jobs.bench_direct.direct_clients import (
    DIRECT,
    LEFT,
    OPTIMISTIC,
    PRE_POSTED,
    RECOVERABLE,
    kind_of,
)
from ci.jobs.bench_direct.direct_page import SECTIONS, page
from ci.jobs.bench_direct.direct_plots import plots
from ci.jobs.bench_direct.direct_rows import (
    BLOCKS,
    F3_WAYS,
    F6_WAYS,
    F7_WAYS,
    HITS,
    RECORD,
    SHARES,
    SIZES,
    SMALL,
    T3_WAYS,
    WORK,
    WRITE_RATES,
    X2_WAYS,
    in_flight,
    measured,
    shuffled,
    way_at,
)
from ci.jobs.bench_direct.stale_sections import FORMS
from ci.jobs.bench_nfs.bench_nfs_command import Run
from ci.jobs.bench_nfs.figures import Figures


def rounds(rate=1.0, response=1.0, server=1.0):
    """Three that are alike."""
    one = Figures(
        int(rate * 10**9), 1000, 1.0, 0.2, 0.1, server * 0.1, response * 5e-5, server * 0.03
    )
    return [one] * 3


def with_counts(**counts):
    """Three rounds of 1000 READs with these counts."""
    return [dataclasses.replace(one, **counts) for one in rounds()]


@pytest.fixture
def run():
    made = Run(3, 0.3, "a machine")
    made.results = {
        "T2": {(cell.way, cell.kind): rounds() for cell in raw.cells()},
        "F3": {
            (way, kind_of(size)): rounds(1.05 if way == PRE_POSTED else 1.0)
            for way in F3_WAYS
            for size in SIZES
            if measured(way, size)
        },
        "T3": {
            (way, kind_of(SMALL)): (
                rounds(response=0.8, server=0.4) if way == OPTIMISTIC else rounds()
            )
            for way in T3_WAYS
        },
        "F7": {
            (way, kind_of(size)): rounds(server=0.3 if way == OPTIMISTIC else 1.0)
            for way in F7_WAYS
            for size in BLOCKS
        },
    }
    made.results["F5"] = {
        (way, kind_of(RECORD, work)): rounds() for way in F3_WAYS for work in WORK
    }
    made.results["F6"] = {
        (way, (share,)): rounds(rate=1.2 if way == OPTIMISTIC else 1.0)
        for way in F6_WAYS
        for share in HITS
    }
    stale = [way_at(way, share) for way in FORMS for share in SHARES]
    made.results["X1"] = {(way, kind_of(SMALL)): rounds() for way in (*stale, DIRECT)}
    made.results["X2"] = {
        (way_at(way, rate), kind_of(SMALL)): rounds() for way in X2_WAYS for rate in WRITE_RATES
    }
    made.results["F4"] = made.results["F3"]
    return made


def lines_with(text, words):
    return [line for line in text.splitlines() if words in line]


def test_every_row_is_there_or_has_a_reason(run):
    text = page(run)
    for name, section in SECTIONS.items():
        assert f"## {section.title}" in text
        assert name in run.results, name
    assert "Not measured: " not in text


def test_ratios_stand_beside_those_of_the_paper(run):
    assert lines_with(page(run), "| optimistic | 40.0 | 0.80 | 0.64 |")
    assert lines_with(page(run), f"| {LEFT} | 50.0 | 1.00 | 0.89 |")


def test_stale_references_are_shown_by_all_forms(run):
    met = with_counts(stale=10, by_rpc=30)
    run.results["X1"][way_at(RECOVERABLE, 0.01), kind_of(SMALL)] = met
    text = page(run)
    assert lines_with(text, "| D | 1 % | 1.0 % | 3.0 % | 1000.0 | 1.00 |")
    assert len(lines_with(text, "| 1 % |")) == len(FORMS)


def test_reads_beside_a_writer_are_shown_with_their_retries(run):
    run.results["X2"][way_at(OPTIMISTIC, 100), kind_of(SMALL)] = with_counts(
        stale=4, by_rpc=5, writes=99
    )
    assert lines_with(page(run), "| 100 | 0 | 99 | 1000 | 1000 | 1.00 | 1.00 | 0.004 | 0.5 % |")


def test_floors_that_are_met_and_missed(run):
    text = page(run)
    assert "missed" not in text
    assert len(lines_with(text, "| met |")) == 6
    run.results["T3"][OPTIMISTIC, kind_of(SMALL)] = rounds(response=1.1, server=0.6)
    run.results["F3"][PRE_POSTED, kind_of(65536)] = rounds(1.2)
    missed = lines_with(page(run), "| missed |")
    assert len(missed) == 3
    assert "| at most 0.5 | 0.60 |" in missed[1]


def test_a_floor_is_no_result_if_the_rounds_differ_too_much(run):
    found = [*rounds(1.0)[:2], *rounds(1.7)[:1]]
    run.results["F3"][PRE_POSTED, kind_of(65536)] = found
    assert len(lines_with(page(run), "| met, but the rounds differ too much |")) == 1


def test_only_what_fits_is_sent_inline():
    assert measured(PRE_POSTED, 131072)
    assert not measured(PRE_POSTED, 262144)
    assert measured(DIRECT, 524288)


def test_large_reads_have_fewer_in_flight():
    assert [in_flight(size) for size in (4096, 65536, 131072, 524288, 1048576)] == [8, 8, 4, 1, 1]


def test_every_plot_that_the_page_shows_is_drawn(run):
    drawn = plots(run.results)
    shown = [line for line in page(run).splitlines() if line.startswith("![")]
    assert len(shown) == len(drawn)
    assert all(any(f"({name})" in line for line in shown) for name in drawn)
    assert all(svg.startswith("<?xml") for svg in drawn.values())


def test_the_order_of_cells_is_another_one_and_always_the_same():
    cells = list(range(20))
    assert shuffled(cells) == shuffled(cells) != cells
    assert sorted(shuffled(cells)) == cells


@pytest.mark.parametrize("arguments", [["F99"], ["--rounds", "0"], ["--seconds", "0"]])
def test_impossible_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    assert "ci/bench-direct: error: " in capsys.readouterr().err


def test_rows_are_chosen_by_name():
    assert parse(["T3"]).row == ["T3"]
    assert set(ROWS) <= set(SECTIONS)

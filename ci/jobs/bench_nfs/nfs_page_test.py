"""The page of a run has each row, or says why it is not there."""

import re
import sys

import pytest

from ci.jobs.bench_nfs import networks, nfs_rows, yardstick
from ci.jobs.bench_nfs.bench_clients import IWARP, NO_CRC, TCP, WAYS
from ci.jobs.bench_nfs.bench_nfs_command import Run, parse
from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_nfs.nfs_page import SECTIONS, method, page
from ci.jobs.bench_nfs.nfs_plots import plots
from ci.jobs.bench_nfs.rounds import Cell, measure, parts_of
from ci.jobs.bench_nfs.rows_command import measure_rows
from steertag.bench import bench_plot

RATES = {TCP: 1000, IWARP: 1700, NO_CRC: 500, yardstick.PEERS: 850}


def rounds(way, scale=1):
    rate = RATES.get(way, 1000) * scale
    return [Figures(rate * 10**6, 100, 1.0, 0.2, 0.1, 0.1)] * 3


@pytest.fixture
def run():
    made = Run(3, 0.4, "a machine")
    reading = {
        (way, ("read", size, calls)): rounds(way, 1 + size / 2**20 - calls / 100)
        for way in WAYS
        for size in nfs_rows.SIZES
        for calls in nfs_rows.IN_FLIGHT
    }
    made.results = {
        "C1": reading,
        "C2": reading,
        "C3": reading,
        "C4": {
            (way, (operation, size, nfs_rows.WRITE_IN_FLIGHT)): rounds(way)
            for way in WAYS
            for operation in ("write", "write_sync")
            for size in nfs_rows.WRITE_SIZES
        },
        "C5": {
            (mtu, (way, size)): rounds(way, mtu / 9000)
            for mtu in networks.MTUS
            for way in WAYS
            for size in networks.SIZES
        },
        "C6": {
            (way, ("read", size, 1)): rounds(way)
            for way in (nfs_rows.INLINE, nfs_rows.CHUNK)
            for size in nfs_rows.INLINE_SIZES
        },
        "C7": {
            (way, ("read", size, 1)): rounds(way)
            for way in (nfs_rows.OPENED, nfs_rows.STAYS)
            for size in nfs_rows.SIZES
        },
        "C8": {
            (name, (way, size)): rounds(way)
            for name in (nfs_rows.KEPT, nfs_rows.COPIED)
            for way in WAYS
            for size in nfs_rows.COPIED_SIZES
        },
        "C9": {
            ((size, credits), kind): rounds(TCP)
            for size in nfs_rows.RECEIVE_BYTES
            for credits in nfs_rows.CREDITS
            for kind in ("LOOKUP", "READDIRPLUS of 100")
        },
        "yardstick": {
            (way, kind): rounds(way) for way in (yardstick.PEERS, *WAYS) for kind in yardstick.KINDS
        },
    }
    return made


def test_every_row_is_shown(run):
    text = page(run)
    assert re.findall(r"^## (\w+)", text, re.MULTILINE) == [
        "Floors",
        *(f"C{n}" for n in range(1, 10)),
        "Beside",
    ]
    assert "| iWARP | 1M | 1 | 3383 | 1.70 |" in text, "the best cell, and its ratio to TCP"
    assert (
        "| iWARP | 32K | 1700 | 283 | 0.17 |" in text
    ), "the larger MTU first, and the ratio to it"
    assert "| iWARP without CRC | 256K | 8 | 500 | 0.59 |" in text, "the ratio to Ganesha"
    assert text.count("Not measured: ") == 0


def test_floors_say_what_was_reached(run):
    text = page(run)
    assert (
        "| READ of 256K by iWARP, to Ganesha and libnfs over TCP | at least 1.2 | 2.00 | met |"
        in text
    )
    assert (
        "| client CPU of that by iWARP without CRC, to TCP | at most 1.1 | 2.00 | missed |" in text
    )


def test_a_row_that_is_missing_says_why(run):
    del run.results["yardstick"]
    run.missing["yardstick"] = "there is no Ganesha"
    assert "## Beside programs of others\n\nNot measured: there is no Ganesha.\n" in page(run)


def test_the_plots_that_the_page_shows_are_drawn(run):
    pytest.importorskip("matplotlib", reason="python3-matplotlib is not installed")
    shown = set(re.findall(r"\((nfs-2003-\w+\.svg)\)", page(run)))
    drawn = plots(run.results)
    assert set(drawn) == shown
    assert all(svg.startswith("<?xml") for svg in drawn.values())


def test_all_cells_take_turns_in_each_round():
    order = []

    def cell(name):
        return Cell(name, ("read",), lambda seconds: order.append((name, seconds)))

    found = measure([cell("a"), cell("b")], 3, 0.5)
    assert {name for name, _ in order[:2]} == {"a", "b"}, "the warm round"
    measured = [name for name, _ in order[2:]]
    assert all(set(measured[at : at + 2]) == {"a", "b"} for at in (0, 2, 4))
    assert all(len(each) == 3 for each in found.values())
    assert {seconds for _, seconds in order[2:]} == {0.5}


@pytest.mark.parametrize("arguments", [["C10"], ["--rounds", "0"], ["--seconds", "0"]])
def test_impossible_arguments_are_refused(arguments):
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2


@pytest.mark.parametrize("rounds, parts", [(1, [1]), (2, [1, 1]), (5, [2, 2, 1]), (6, [2, 2, 2])])
def test_the_rounds_come_in_three_parts(rounds, parts):
    assert parts_of(rounds) == parts


def test_the_rounds_of_a_part_go_behind_those_of_the_other():
    run = Run(2, 0.4, "a machine")
    for figure in ("first", "second"):
        measure_rows(run, {"C1": lambda: {("tcp", "read"): [figure]}}, ["C1"], {"C2": "C1"})
    assert run.results["C2"] == run.results["C1"] == {("tcp", "read"): ["first", "second"]}


def test_a_row_that_fails_in_one_part_is_missing():
    run = Run(2, 0.4, "a machine")

    def fails():
        raise yardstick.CannotMeasure("there is no Ganesha")

    for row in (lambda: {("tcp", "read"): ["first"]}, fails):
        measure_rows(run, {"yardstick": row}, ["yardstick"], {}, optional=["yardstick"])
    assert run.results == {}
    assert run.missing == {"yardstick": "there is no Ganesha"}


def test_without_matplotlib_nothing_is_measured(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit) as ended:
        parse([])
    assert ended.value.code == 2
    assert bench_plot.NEEDS in capsys.readouterr().err


def test_missing_packages_are_named(tmp_path):
    with pytest.raises(yardstick.CannotMeasure) as error:
        yardstick.installed(tmp_path).check()
    assert "nfs-ganesha, nfs-ganesha-vfs, libnfs-dev" in str(error.value)
    assert len(SECTIONS) == 10


def test_a_row_that_is_missing_has_no_plot(run):
    pytest.importorskip("matplotlib", reason="python3-matplotlib is not installed")
    del run.results["C5"]
    run.missing["C5"] = "there is no ip"
    assert "nfs-2003-mtu.svg" not in plots(run.results)
    assert "nfs-2003-mtu.svg" not in page(run)


@pytest.mark.parametrize(
    "rounds, sentence",
    [
        (1, "one round does not bound the median"),
        (5, "five rounds bound the median with 94 % confidence"),
        (6, "six rounds bound the median with 97 % confidence"),
        (15, "15 rounds bound the median with more than 99 % confidence"),
    ],
)
def test_the_page_says_how_sure_its_number_of_rounds_is(rounds, sentence):
    assert f"where the rounds of both meet: {sentence}." in method(rounds)

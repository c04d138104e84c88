"""The page of a run has each row, and the floor counts the worst kind of file."""

import pytest

from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_pnfs import killed_server, transport_page
from ci.jobs.bench_pnfs.bench_pnfs_command import BELOW, LATE, StripedRun, check_floor, check_time
from ci.jobs.bench_pnfs.bench_pnfs_command import parse
from ci.jobs.bench_pnfs.pnfs_page import SECTIONS, page, scaling
from ci.jobs.bench_pnfs.pnfs_plots import plots
from ci.jobs.bench_pnfs.pnfs_rows import COMMITS, LIMIT_S, PACKINGS, UNITS
from ci.jobs.bench_pnfs.striped import DATA_SERVERS, STRIPED_TRANSPORTS, TRANSPORTS


def rounds(megabytes_per_s):
    return [Figures(round(megabytes_per_s * 10**6), 1, 1.0, 0.2, 0.1, 0.1)] * 3


@pytest.fixture
def run():
    made = StripedRun(3, 0.4, "a machine", nfs="4.1", rate_mbit=80, elapsed_s=552.4)
    made.results = {
        "S1": {
            (servers, ("read", unit, packing)): rounds(10 * servers)
            for unit in UNITS
            for packing in PACKINGS
            for servers in DATA_SERVERS
        },
        "S2": {
            (servers, ("write", commit)): rounds(9 * servers)
            for commit in COMMITS
            for servers in DATA_SERVERS
        },
        "S3": {
            (way, (operation, servers)): rounds(100 * len(way))
            for way in STRIPED_TRANSPORTS
            for operation in ("read", "write")
            for servers in DATA_SERVERS
        },
        "S8": {
            (way, (name, fate)): rounds(rate)
            for way, rate in {
                killed_server.BEFORE: 40,
                killed_server.GAP: 10,
                killed_server.AFTER: 38,
                -50: 40,
                0: 40,
                50: 10,
            }.items()
            for name in TRANSPORTS
            for fate in (killed_server.KILLED, killed_server.VANISHED)
        },
    }
    # They have tests of their own.
    made.missing = dict.fromkeys([*transport_page.SECTIONS, "S7"], "it was not asked for")
    return made


def test_each_row_is_on_the_page(run):
    text = page(run)
    assert "A limited link has 80 Mbit/s" in text
    assert "measured in 9 min 12 s. The limit is 15 min 0 s." in text
    assert "three rounds bound the median with 75 % confidence" in text
    assert all(f"## {section.title}" in text for section in SECTIONS.values())
    assert "| 64K | sparse | 10 | 2.00 | 4.00 | 8.00 | 30 % | 10 % |" in text
    assert "| DS | 9 | 2.00 | 4.00 | 8.00 | 30 % | 10 % |" in text
    assert "| process killed | TCP | 40 | 1000 | 0.25 | 0.95 |" in text
    assert "| host vanished | iWARP without CRC | 40 | 1000 | 0.25 | 0.95 |" in text
    assert "| READ | 1 | 300 | 1700 | 5.67 | 0.18 | 0.18 | 1.33 | above 1 |" in text
    assert "| WRITE | 2 | 300 | 1700 | 5.67 | 0.18 | 0.18 | 1.33 | - |" in text
    assert "| WRITE | 8 | 300 | 1700 | 5.67 | 0.18 | 0.18 | 1.33 | 1.22, 2.50 |" in text


def test_a_row_that_is_not_there_says_why(run):
    del run.results["S2"]
    run.missing["S2"] = "there is no unshare"
    assert "Not measured: there is no unshare." in page(run)


def test_the_plot_has_a_line_for_each_kind_of_file(run):
    svg = plots(run.results)["pnfs-scaling.svg"]
    assert all(f"{unit}, {packing}" in svg for unit in ("64K", "1M") for packing in PACKINGS)


def test_each_plot_of_scaling_and_of_transports_is_on_the_page(run):
    made, text = plots(run.results), page(run)
    for name in ("pnfs-scaling.svg", "pnfs-writing.svg", "pnfs-transports.svg"):
        assert f"]({name})" in text
    assert all(f"COMMIT at {commit.upper()}" in made["pnfs-writing.svg"] for commit in COMMITS)
    assert all(word in made["pnfs-transports.svg"] for word in ("READ", "WRITE", "throughput"))


def test_the_plot_of_a_death_has_a_line_for_each_transport(run):
    svg = plots(run.results)["pnfs-death.svg"]
    assert all(svg.count(f">{name}</text>") == 2 for name in TRANSPORTS)
    assert killed_server.KILLED in svg and killed_server.VANISHED in svg


def test_without_reading_there_is_no_plot():
    assert plots({}) == {}


def test_the_floor_counts_the_worst_kind(run, capsys):
    assert check_floor(run) == 0
    most, worst = DATA_SERVERS[-1], ("read", UNITS[1], "dense")
    run.results["S1"][most, worst] = rounds(70)
    assert scaling(run.results["S1"], most)[worst].median == 7
    assert check_floor(run) == BELOW
    assert "BELOW    reading from 8 data servers: 7.00 of one, floor 7.2" in capsys.readouterr().out


def test_a_run_beyond_the_limit_of_time_is_a_failure(run, capsys):
    assert check_time(run) == 0
    run.elapsed_s = LIMIT_S + 1
    assert check_time(run) == LATE
    assert "LATE     measured in 15 min 1 s, limit 15 min 0 s" in capsys.readouterr().out


@pytest.mark.parametrize("rate", ["0", "10001", "fast"])
def test_a_rate_that_no_link_has_is_refused(rate, capsys):
    with pytest.raises(SystemExit):
        parse(["--rate", rate])
    assert "--rate" in capsys.readouterr().err


def test_the_text_fits_a_page(run):
    text = [line for line in page(run).splitlines() if not line.startswith(("|", "!", "#"))]
    assert all(len(line) <= 150 for line in text)

"""The sections of the rows that compare latencies say what was measured, beside what the paper has."""

import pytest

from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_pnfs.bench_pnfs_command import StripedRun
from ci.jobs.bench_pnfs.pnfs_page import page
from ci.jobs.bench_pnfs.striped import DATA_SERVERS, TRANSPORTS
from ci.jobs.bench_pnfs.transport_page import PLOTS, SECTIONS, plots
from ci.jobs.bench_pnfs.transport_rows import CREATED_AT, CREATES, HANDLES

TCP, RDMA = TRANSPORTS
CALLS = 100


def rounds(response_us, octets=0):
    return [Figures(CALLS * octets, CALLS, 1.0, 0.2, 0.1, 0.1, response_us / 1e6)] * 3


@pytest.fixture
def results():
    """RDMA takes twice as long for small layouts, and half as long for large ones."""
    layouts = {
        (way, ("layoutget", handles)): rounds(
            40.0 if way == TCP else 80.0 if handles < 100 else 20.0, 36 + 48 * handles
        )
        for way in TRANSPORTS
        for handles in HANDLES
    }
    creates = {
        (way, ("create", at, creates)): rounds(at * creates * (100.0 if way == TCP else 150.0))
        for way in TRANSPORTS
        for at in CREATED_AT
        for creates in CREATES
    }
    zipf = {
        (way, ("zipf", servers)): rounds(50.0 if way == TCP else 40.0, 2 * 10**6)
        for way in TRANSPORTS
        for servers in DATA_SERVERS
    }
    return {"S4": layouts, "S5": creates, "S6": zipf}


@pytest.fixture
def text(results):
    run = StripedRun(3, 0.4, "a machine", nfs="4.1")
    run.results = results
    run.missing = dict.fromkeys(("S1", "S2", "S3", "S7", "S8"), "it was not asked for")
    return page(run)


def test_layouts_are_by_the_octets_that_were_measured(text):
    assert "| 1 | 84 | 40.0 | 80.0 | 2.00 |" in text
    assert "| 681 | 32724 | 40.0 | 20.0 | 0.50 |" in text


def test_creates_are_by_the_number_at_a_time(text):
    assert "| 1 | 100.0 | 150.0 | 1.50 | 800.0 | 1200.0 | 1.50 | above 1 |" in text
    assert "| 16 | 1600.0 | 2400.0 | 1.50 | 12800.0 | 19200.0 | 1.50 | 0.85, 16 servers |" in text


def test_reads_by_zipf_s_law_are_by_data_servers(text):
    assert "| 1 | 200 | 200 | 1.00 | 50.0 | 40.0 | 0.80 | 1.22 |" in text
    assert "| 2 | 200 | 200 | 1.00 | 50.0 | 40.0 | 0.80 | - |" in text


def test_each_plot_is_on_the_page(text, results):
    made = plots(results)
    assert set(made) == {name for name, _ in PLOTS.values()}
    assert all(f"]({name})" in text for name in made)
    assert all(way in made["pnfs-layoutget.svg"] for way in TRANSPORTS)
    assert "8 servers" in made["pnfs-create.svg"]
    assert "latency" in made["pnfs-zipf.svg"]


def test_without_rows_there_are_no_plots():
    assert plots({}) == {}
    assert set(SECTIONS) == set(PLOTS)

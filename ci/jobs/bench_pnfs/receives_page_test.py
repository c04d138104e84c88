"""The section on receives has each number of credits and of clients, and compares within a round."""

import os

import pytest

from ci.jobs.bench_nfs.figures import Figures, Value, cells_of, json_of
from ci.jobs.bench_pnfs import receives, receives_page


def rounds(megabytes_per_s, memory=0):
    return [
        Figures(round(megabytes_per_s * 10**6), 1000, 1.0, 0.2, 0.1, 0.1, server_bytes=memory)
    ] * 3


@pytest.fixture
def found():
    made = {
        (receives.way_of(credits, slots), receives_page.KIND): rounds(
            min(credits, receives.slot_count(credits, slots)) * 10
        )
        for credits in receives.CREDITS
        for slots in receives.SLOTS
    }
    for clients in receives.CLIENTS:
        made[receives.OWN, ("read", clients)] = rounds(100, 8 << 20)
        made[receives.SHARED, ("read", clients)] = rounds(90, 1 << 20)
    return made


def test_each_row_is_there(found):
    text = "\n".join(receives_page.lines(found))
    assert "| 8 | half | 4 | 40 | 0.50 | 0.12 |" in text
    assert "| 32 | equal | 32 | 320 | 1.00 | 1.00 |" in text
    assert "| 32 | double | 64 | 320 | 1.00 | 1.00 |" in text
    assert "| 128 | double | 256 | 1280 | 1.00 | 4.00 |" in text
    for clients in receives.CLIENTS:
        assert f"| {clients} | 100 | 0.90 | 1.00 | 8M | 1M |" in text


def test_conclusions_are_those_of_the_figures(found):
    text = " ".join(receives_page.lines(found))
    assert (
        "Half the slots give 0.50 to 0.50 of the throughput of equal ones: less with all." in text
    )
    assert "Twice the slots give 1.00 to 1.00 of it: no clear difference with all." in text
    assert "the pool gives 0.90 to 0.90 of the throughput: no clear difference with all." in text
    assert "With 64 clients the server has 0.12 of the memory." in text
    found[receives.way_of(8, receives.DOUBLE), receives_page.KIND] = rounds(160)
    found[receives.way_of(128, receives.DOUBLE), receives_page.KIND] = rounds(640)
    text = " ".join(receives_page.lines(found))
    shown = "more with 8, less with 128, no clear difference with 16 and 32."
    assert f"Twice the slots give 0.50 to 2.00 of it: {shown}" in text


def test_a_ratio_within_its_spread_shows_nothing():
    assert receives_page.verdict({8: Value(1.3, 0.4)}) == "no clear difference with all"
    assert receives_page.verdict({8: Value(1.3, 0.2)}) == "more with all"


def test_the_plot_is_on_the_page(found):
    made = receives_page.plots({"S7": found})
    assert set(made) == {receives_page.PLOT}
    assert f"]({receives_page.PLOT})" in "\n".join(receives_page.lines(found))
    assert all(f"{slots} slots" in made[receives_page.PLOT] for slots in receives.SLOTS)
    assert receives_page.plots({}) == {}


def test_figures_survive_their_file(found):
    assert cells_of(json_of(found)) == found


def test_the_text_fits_a_page(found):
    text = [line for line in receives_page.lines(found) if not line.startswith(("|", "!"))]
    assert all(len(line) <= 120 for line in text)
    assert all(len(sentence.split()) <= 25 for sentence in " ".join(text).split(". "))


def test_memory_of_this_process_is_known():
    page = os.sysconf("SC_PAGE_SIZE")
    assert receives.resident_bytes(os.getpid()) > 100 * page

"""The section on receives has each number of credits and of clients, and compares within a round."""

import os

import pytest

from ci.jobs.bench_nfs.figures import Figures, cells_of, json_of
from ci.jobs.bench_pnfs import receives, receives_page


def rounds(megabytes_per_s, memory=0):
    return [
        Figures(round(megabytes_per_s * 10**6), 1000, 1.0, 0.2, 0.1, 0.1, server_bytes=memory)
    ] * 3


@pytest.fixture
def found():
    made = {
        (receives.way_of(credits, slots), receives_page.KIND): rounds(
            receives.granted(credits, slots) * 10
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
    assert "| 8 | half | 4 | 40 | 0.12 |" in text
    assert "| 32 | equal | 32 | 320 | 1.00 |" in text
    assert "| 32 | double | 32 | 320 | 1.00 |" in text
    assert "| 128 | equal | 64 | 640 | 2.00 |" in text
    for clients in receives.CLIENTS:
        assert f"| {clients} | 100 | 0.90 | 1.00 | 8M | 1M |" in text


def test_figures_survive_their_file(found):
    assert cells_of(json_of(found)) == found


def test_the_text_fits_a_page(found):
    text = [line for line in receives_page.lines(found) if not line.startswith("|")]
    assert all(len(line) <= 120 for line in text)
    assert all(len(sentence.split()) <= 25 for sentence in " ".join(text).split(". "))


def test_memory_of_this_process_is_known():
    page = os.sysconf("SC_PAGE_SIZE")
    assert receives.resident_bytes(os.getpid()) > 100 * page

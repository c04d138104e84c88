"""The page of `steertag matrix --html` in a browser: filters, notes, a phone's width, both colours."""

import pytest

from steertag.matrix import matrix_page
from steertag.matrix.load_target import load_targets
from steertag.testing.run_files import entry, row, write_baseline, write_report

FIRST, SECOND, THIRD = "RFC8166-4.5.1-1", "RFC8166-3.3.1-8", "RFC8166-4.2.1-1"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A page on a run and a baseline: they differ in one row, agree on a failure, and both pass the third."""
    folder = tmp_path_factory.mktemp("matrix")
    failing = entry("server.a.two", "fail", f"{SECOND}: saw silence", (SECOND,))
    cases = [entry("server.a.one"), failing, entry("server.a.three", requirements=(THIRD,))]
    report = write_report(folder / "report.json", cases, name="mine")
    rows = [
        row("server.a.one", reason=f"{FIRST}: saw silence", note="It drops the call."),
        row("server.a.two", requirement=SECOND, reason=f"{SECOND}: saw silence"),
    ]
    theirs = write_baseline(folder / "theirs.yaml", rows, cases=3)
    path = folder / "matrix.html"
    path.write_text(matrix_page.page(load_targets([str(report), str(theirs)])))
    return path


@pytest.fixture
def shown(browser, written):
    browser.open(written)
    return browser


def rows(browser):
    """The requirements of the rows that are displayed."""
    return browser.value(
        """[...document.querySelectorAll('tbody tr')].filter((row) => row.checkVisibility())
      .map((row) => row.querySelector('th').innerText.trim().split(/\\s/)[0])"""
    )


def test_rows_that_pass_everywhere_are_hidden_until_asked_for(shown):
    assert set(rows(shown)) == {FIRST, SECOND}
    shown.one("input[name=passing]").click()
    assert set(rows(shown)) == {FIRST, SECOND, THIRD}
    assert shown.one("output").text == "3 of 3 rows"


def test_only_differences_can_be_shown(shown):
    shown.one("input[name=differing]").click()
    assert rows(shown) == [FIRST]


def test_text_finds_notes_and_verdicts_find_rows(shown):
    shown.one("input[name=text]").click()
    shown.press("drops", " call")
    assert rows(shown) == [FIRST]
    for _ in "drops call":
        shown.press("BACKSPACE")
    shown.choose("verdict", "fail")
    assert set(rows(shown)) == {FIRST, SECOND}
    shown.choose("verdict", "pass")
    assert rows(shown) == [THIRD]


def test_a_cell_opens_by_the_keyboard_and_shows_its_note(shown):
    assert not shown.one("td details .said").is_displayed()
    shown.value("document.querySelector('td details summary').focus()")
    shown.press("ENTER")
    assert shown.one("td details[open] .said").is_displayed()


def test_a_phone_shows_cells_below_each_other(shown):
    wide = shown.value("document.querySelector('tbody td').getBoundingClientRect().width")
    shown.resize(360, 740)
    assert shown.value("document.documentElement.scrollWidth") <= 360
    tops = shown.value(
        """[...document.querySelectorAll('tbody tr:not([hidden]) > *')].slice(0, 3)
      .map((cell) => cell.getBoundingClientRect().top)"""
    )
    assert tops == sorted(set(tops)), "the cells of a row have places of their own"
    assert wide != shown.value("document.querySelector('tbody td').getBoundingClientRect().width")
    name = shown.value("getComputedStyle(document.querySelector('tbody td'), '::before').content")
    assert name == '"mine"', "a cell names its target, as there is no head"


def test_it_follows_the_colour_scheme_and_loads_nothing(shown):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = shown.value(colour)
    shown.scheme("dark")
    assert (light, shown.value(colour)) == ("rgb(255, 255, 255)", "rgb(21, 25, 29)")
    assert shown.value("performance.getEntriesByType('resource').length") == 0
    assert shown.problems() == []

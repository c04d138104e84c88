"""The page of a run in a browser: clicks, filters, keys, drawings, hostile texts, and many failures."""

import io
import time
import urllib.parse

import pytest

from steertag.report_page.page import page
from steertag.report_page.run_content import run_content
from steertag.testing import long_run

CASES, PASSING = 10, 3
# Of a suite in which every case fails.
WHOLE_SUITE = 1676
LARGEST_PAGE = 5_000_000
# Elements: 200 rows, an open cause, and all choices. A browser makes them in a fraction of a second.
MOST_NODES = 8000
HOSTILE = (
    "</script><img src=x onerror=\"window.hurt='img'\"><script>window.hurt='script'</script>"
    "'\"><svg onload=window.hurt=1> &lt;b&gt; ${window.hurt=2} javascript:window.hurt=3 \u202e\0\x1b[31m"
)
READY = "'ready' in document.documentElement.dataset"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The path of a page with some failures."""
    folder = tmp_path_factory.mktemp("report")
    return write(folder, long_run.document(CASES, PASSING))


def write(folder, document):
    path = folder / "index.html"
    path.write_text(page(run_content(document, folder)))
    return path


def open_page(browser, path, fragment=""):
    browser.open(path, fragment)
    browser.await_true(READY)


@pytest.fixture
def shown(browser, written):
    open_page(browser, written)
    browser.await_true("document.querySelector('#causes-1 .ladder')")
    return browser


def listed(browser):
    """The ids of the cases in the list."""
    return browser.value(
        "[...document.querySelectorAll('#list > li')].map((each) => each.dataset.case)"
    )


def test_the_first_cause_is_open_with_an_example(shown):
    causes = shown.texts("#causes summary")
    assert causes == [
        "8 cases: the server breaks RFC 8166 3.3.1 (MUST): words",
        "2 cases: the server breaks RFC 8166 4.2.1 (MUST): words",
    ]
    body = shown.one("#causes-1 .body").text
    for words in (
        "MUST NOT): A granted credit value is never zero.",
        "rdma_credit 0 in the answer with rdma_xid 0x",
        "a grant of at least 1",
        "steertag replay ",
        "steertag explain RFC8166-3.3.1-5",
        "--deviate grants-zero",
    ):
        assert words in body
    links = {each.text: each.get_attribute("href") for each in shown.all("#causes-1 a")}
    assert links["capture"].endswith("/captures/server.credit.fails-1.pcapng")
    assert links["RFC 8166 3.3.1 (MUST NOT)"].startswith("https://www.rfc-editor.org/rfc/rfc8166#")


def test_facts_and_totals_head_the_page(shown):
    assert shown.one("h1").text == "Steertag: iwarp://192.0.2.1/export"
    assert shown.texts("#totals .badge") == ["10 fail", "3 pass"]
    assert "2026-11-25 10:20:30 UTC, 30.7 s" in shown.one("#facts").text


def test_cases_that_went_wrong_are_listed_first_and_others_on_demand(shown):
    assert len(listed(shown)) == CASES
    shown.choose("verdict", "any")
    assert len(listed(shown)) == CASES + PASSING
    shown.choose("verdict", "pass (3)")
    assert len(listed(shown)) == PASSING
    assert shown.one("output").text == "3 of 13 cases"


@pytest.mark.parametrize(
    "name, text, ids",
    [
        ("topic", "credit", ["server.credit.fails-1", "server.credit.fails-6"]),
        ("cause", "cause 2 (2)", ["server.backchannel.fails-4", "server.backchannel.fails-9"]),
        ("requirement", "RFC8166-3.3.1-5", 10),
        ("section", "RFC8166-4.2", 10),
    ],
)
def test_a_filter_leaves_the_cases_that_fit(shown, name, text, ids):
    shown.choose(name, text)
    assert listed(shown) == ids if isinstance(ids, list) else len(listed(shown)) == ids
    shown.one("#every").click()
    shown.await_true(f"document.querySelectorAll('#list > li').length === {CASES}")


def test_a_row_and_the_text_filter_know_the_clause(shown):
    first = shown.texts("#list .reason")[0]
    assert first.startswith(
        "RFC 8166 3.3.1 (MUST NOT): A granted credit value is never zero. Seen: "
    )
    shown.one("input[name=text]").click()
    shown.press("granted credit never ZERO")
    assert len(listed(shown)) == 8 and "server.backchannel.fails-4" not in listed(shown)


def test_the_section_is_of_what_a_case_claims_or_breaks(browser, tmp_path):
    document = long_run.document(2)
    document["cases"][0]["requirements"] = []
    document["cases"][1]["requirements"] = [long_run.COPY]
    open_page(browser, write(tmp_path, document))
    browser.choose("section", "RFC8166-4")
    assert listed(browser) == ["server.credit.fails-1"]
    browser.choose("section", "RFC8166-3.3.1")
    assert len(listed(browser)) == 2


def test_the_keyboard_is_enough(shown):
    shown.press("/")
    assert shown.value("document.activeElement.name") == "text"
    shown.press("long-call fails-8")
    assert listed(shown) == ["server.long-call.fails-8"]
    shown.press("ESCAPE")
    assert shown.value("document.activeElement.name") is None
    shown.press("j", "j", "j")
    assert (
        shown.value("document.activeElement.closest('li').dataset.case")
        == "server.long-call.fails-8"
    )
    shown.press("ENTER")
    shown.await_true("document.querySelector('#list .ladder')")
    shown.press("k")
    assert shown.value("document.activeElement.parentElement.id") == "causes-2"


def test_a_cause_lists_its_cases(shown):
    shown.one("#causes-2 > summary").click()
    shown.await_true("document.querySelector('#causes-2 .ladder')")
    shown.one("#causes-2 .body > button").click()
    shown.await_true("document.querySelector('output').value === '2 of 13 cases'")
    assert listed(shown) == ["server.backchannel.fails-4", "server.backchannel.fails-9"]


def test_an_address_can_name_a_case(browser, written):
    open_page(browser, written, "#server.header.passes-0")
    browser.await_true("document.querySelector('#list details[open] .body')")
    assert browser.one("#list details[open] .id").text == "server.header.passes-0"


def test_the_ladder_has_an_arrow_a_line_in_its_direction(shown):
    rows = shown.value(
        """[...document.querySelectorAll('#causes-1 .ladder .row')].map((row) => {
      const arrow = row.querySelector('.arrow');
      return [row.dataset.number, arrow.x2.baseVal.value > arrow.x1.baseVal.value, row.classList.contains('marked')];
    })"""
    )
    lines = long_run.document(1)["cases"][0]["trace"]
    marked = [line["number"] for line in lines if "violations" in line]
    assert rows == [
        [str(line["number"]), line["direction"] == "->", line["number"] in marked] for line in lines
    ]
    assert len(marked) == 1
    assert shown.texts("#causes-1 .ladder .breaks") == ["breaks RFC8166-3.3.1-5"]
    label = shown.one("#causes-1 .ladder").get_attribute("aria-label")
    assert label.endswith(f"#{marked[0]} breaks a requirement")


def test_what_no_event_shows_ends_the_ladder(browser, tmp_path):
    document = long_run.document(1)
    (case,) = document["cases"]
    case["cause"] |= {"kind": "judged", "rule": "", "text": "expected reply, saw silence"}
    for line in case["trace"]:
        line.pop("violations", None)
    open_page(browser, write(tmp_path, document))
    browser.await_true("document.querySelector('#causes-1 .ladder')")
    assert len(browser.all("#causes-1 .ladder .row")) == long_run.LINES + 1
    marked = browser.value("document.querySelector('#causes-1 .ladder .marked').textContent")
    assert "expected reply, saw silence" in marked and "breaks RFC8166-3.3.1-5" in marked
    label = browser.one("#causes-1 .ladder").get_attribute("aria-label")
    assert label.endswith("; the end breaks a requirement")


def test_no_text_of_the_ladder_leaves_it(shown):
    outside = """[...document.querySelectorAll('.ladder text')].map((text) => text.getBBox())
      .filter((box) => box.x < 0 || box.x + box.width > document.querySelector('.ladder').viewBox.baseVal.width).length"""
    assert shown.value(outside) == 0
    shown.resize(360, 740)
    shown.await_true("document.querySelector('.ladder').viewBox.baseVal.width < 360")
    assert shown.value(outside) == 0


def test_a_write_has_the_colour_of_its_chunk(shown):
    offered, written = (
        shown.value(f"getComputedStyle(document.querySelector('#causes-1 .ladder {part}')).{style}")
        for part, style in ((".send .chunk", "fill"), (".rdma_write .arrow", "stroke"))
    )
    legend = shown.value(
        "getComputedStyle(document.querySelector('.legend span'), '::before').backgroundColor"
    )
    assert offered == written == legend


def test_a_click_on_the_ladder_shows_the_message(shown):
    shown.one("#causes-1 .ladder .rdma_write .number").click()
    (message,) = shown.texts("#causes-1 .messages .picked .text")
    assert message.startswith("RDMA Write of 4096 octets into write chunk 1")


def colours(png):
    """{(red, green, blue)} of a picture."""
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("RGB")
    return image.size, {colour for _, colour in image.getcolors(image.size[0] * image.size[1])}


def test_a_picture_of_the_ladder_has_its_colours_light_and_dark(shown):
    shown.resize(1280, 1300)
    ladder = shown.one("#causes-1 .ladder")
    (width, height), light = colours(shown.picture(ladder))
    lines = long_run.LINES
    assert width > 900 and height >= lines * 30, "each line has its height"
    red, teal, band = (0xC0, 0x39, 0x2B), (0x0B, 0x72, 0x85), (0xFD, 0xEC, 0xEA)
    assert {red, teal, band, (255, 255, 255)} <= light
    shown.scheme("dark")
    _, dark = colours(shown.picture(ladder))
    assert {(0xFF, 0x7B, 0x6B), (0x15, 0x19, 0x1D)} <= dark and (255, 255, 255) not in dark


def test_a_phone_shows_it_without_scrolling_sideways(shown):
    shown.resize(360, 740)
    assert shown.value("document.documentElement.scrollWidth") <= 360
    widths = shown.value(
        "[...document.querySelectorAll('form label:not([hidden]) select')].map((each) => each.clientWidth)"
    )
    assert min(widths) > 120, "the choices can be touched"


def hostile_document():
    document = long_run.document(2, 1)
    document |= {"target": HOSTILE, "name": HOSTILE, "software": HOSTILE, "stopped": HOSTILE}
    document["run"] |= {"host": HOSTILE, "command": HOSTILE, "system": HOSTILE}
    document["run"]["versions"]["pytest"] = HOSTILE
    names = [each["id"] for each in document["cases"]]
    for case in document["cases"]:
        case |= {"id": f"{case['id']}{HOSTILE}", "reason": HOSTILE, "sentence": HOSTILE}
        case |= {"capture": f"javascript:window.hurt=4//{HOSTILE}", "replay": HOSTILE}
        case["requirements"] = [HOSTILE]
        case["findings"] = [{"id": HOSTILE, "text": HOSTILE}]
    first = document["cases"][0]
    first["cause"] |= {"text": HOSTILE, "expected": HOSTILE, "requirement": HOSTILE}
    for line in first["trace"]:
        line |= {"text": f"{HOSTILE}; CALL {HOSTILE}", "kind": line["kind"]}
        for each in line.get("violations", ()):
            each |= {"requirement": HOSTILE, "text": HOSTILE}
    document["clauses"] = {HOSTILE: HOSTILE}
    assert len(names) == 3
    return document


def test_hostile_texts_stay_texts(browser, tmp_path):
    open_page(browser, write(tmp_path, hostile_document()))
    browser.choose("verdict", "any")
    for summary in browser.all("#causes details:not([open]) > summary, #list summary"):
        summary.click()
    browser.await_true("document.querySelectorAll('details .body').length === 5")
    assert browser.value("window.hurt") is None
    assert browser.value("document.querySelectorAll('img, svg:not(.ladder), script').length") == 2
    assert browser.value("document.querySelectorAll('b').length") == 0
    shown = browser.value("document.querySelector('#list .reason').textContent")
    assert shown == HOSTILE, "nothing of it is lost"
    links = browser.value("[...document.querySelectorAll('a')].map((each) => each.protocol)")
    assert set(links) <= {"file:", "https:"} and "file:" in links
    assert browser.problems() == []


def test_a_hostile_name_of_a_file_is_linked_as_it_is(browser, tmp_path):
    document = long_run.document(1)
    name = "captures/a#b?c%20d\"e'<f>.pcapng"
    (tmp_path / "captures").mkdir()
    (tmp_path / name).write_text("octets")
    document["cases"][0]["capture"] = name
    open_page(browser, write(tmp_path, document))
    browser.await_true("document.querySelector('#causes-1 a')")
    link = next(each for each in browser.all("#causes-1 a") if each.text == "capture")
    address = urllib.parse.urlsplit(link.get_attribute("href"))
    assert urllib.parse.unquote(address.path) == str(tmp_path / name)


def test_nothing_is_loaded_and_nothing_is_refused(shown):
    assert shown.value("performance.getEntriesByType('resource').length") == 0
    assert shown.problems() == []


def test_the_policy_refuses_what_is_put_in(shown):
    shown.value(
        """(() => {
      const script = document.createElement('script');
      script.textContent = 'window.hurt = 1';
      document.body.append(script);
    })()"""
    )
    assert shown.value("window.hurt") is None
    assert "Content Security Policy" in shown.problems()[0]


def test_a_clean_run_says_so(browser, tmp_path):
    open_page(browser, write(tmp_path, long_run.document(0, 5)))
    assert browser.one("#causes p").text == "No case breaks a requirement that binds."
    assert not browser.one("#warnings").is_displayed() and not browser.all(".cause")
    assert len(listed(browser)) == 5 and browser.texts("#totals .badge") == ["5 pass"]


def test_a_suite_in_which_all_fails_is_small_and_quick(browser, tmp_path, record_property):
    path = write(tmp_path, long_run.document(WHOLE_SUITE))
    started = time.monotonic()
    open_page(browser, path)
    seconds = time.monotonic() - started
    nodes = browser.value("document.getElementsByTagName('*').length")
    octets = path.stat().st_size
    print(f"{octets} octets, {nodes} elements, {seconds:.2f} s")
    assert octets < LARGEST_PAGE
    assert nodes < MOST_NODES
    assert browser.one("output").text == "1,676 of 1,676 cases"
    assert len(listed(browser)) == 200 and browser.one("#more").text == "Show 200 of 1,476 more"
    browser.one("#more").click()
    assert len(listed(browser)) == 400


def test_with_a_baseline_the_page_begins_with_what_differs(browser, tmp_path):
    document = long_run.document(2, 2)
    for entry, word in zip(document["cases"], ("expected", "different", "different", "expected")):
        entry["baseline"] = word
    open_page(browser, write(tmp_path, document))
    ids = [entry["id"] for entry in document["cases"]]
    assert listed(browser) == ids[1:3]
    browser.choose("baseline", "as expected (2)")
    assert listed(browser) == [ids[0], ids[3]]
    assert browser.texts("#list .known") == ["known"], "of the failure, not of the pass"


def test_without_a_baseline_there_is_no_filter_for_it(shown):
    assert not shown.one("select[name=baseline]").is_displayed()

"""`steertag grade --html`: the page of captures has their findings, and hostile names stay names."""

import os

import pytest

from steertag import build_paths, cli
from steertag.grade.grade_content import grade_content
from steertag.grade.reading import grade_file
from steertag.report_page.run_metadata import run_metadata

READY = "'ready' in document.documentElement.dataset"


@pytest.fixture(scope="module")
def capture():
    return build_paths.checkout() / "fixtures" / "captures" / "linux-6.1-siw-v3.pcapng"


def content_of(*paths, folder):
    import datetime

    files = [grade_file(str(path), [], "rfc8166") for path in paths]
    started = datetime.datetime(2026, 11, 25, 12, tzinfo=datetime.timezone.utc)
    metadata = run_metadata(["steertag", "grade"], started, 1)
    return grade_content([(each, each.rows) for each in files], metadata, folder)


def test_findings_of_one_kind_are_a_cause_with_the_kernels_that_have_it(capture, tmp_path):
    content = content_of(capture, folder=tmp_path)
    (cause,) = content["causes"]
    assert cause["count"] == 4 and content["totals"] == [["fail", 4]]
    assert cause["headline"].startswith("the server breaks RFC 8797 4.1 (MUST): ")
    case = content["cases"][cause["example"]]
    assert ["linux-6.1-siw", "56 cases"] in [each[:2] for each in case["others"]]
    assert any(line["violations"] for line in case["trace"])
    facts = dict(content["facts"])
    assert facts["date"] == "2026-11-25 12:00:00 UTC, 1.0 s" and "4 violations" in facts["capture"]


def test_the_page_shows_the_ladder_of_a_finding(capture, tmp_path, browser):
    path = tmp_path / "page.html"
    assert cli.main(["grade", str(capture), "--quiet", "--html", str(path)]) == 1
    browser.open(path)
    browser.await_true(READY)
    browser.await_true("document.querySelector('#causes-1 .ladder')")
    assert browser.one("output").text == "4 of 4 findings"
    assert browser.texts("#causes-1 .ladder .breaks") == ["breaks RFC8797-4.1-3"]
    link = next(each for each in browser.all("#causes-1 a") if each.text == "capture")
    assert link.get_attribute("href") == capture.as_uri()
    assert browser.problems() == []


def test_a_hostile_name_of_a_capture_stays_a_name(capture, tmp_path, browser):
    name = "a</script><img src=x onerror='window.hurt=1'>\".pcapng"
    folder = tmp_path / name.partition("/")[0]
    folder.mkdir()
    hostile = folder / name.partition("/")[2]
    hostile.write_bytes(capture.read_bytes())
    octets = tmp_path / os.fsdecode(b"\xff\x1b.pcapng")
    octets.write_bytes(capture.read_bytes())
    path = tmp_path / "page.html"
    assert cli.main(["grade", str(hostile), str(octets), "--quiet", "--html", str(path)]) == 1
    browser.open(path)
    browser.await_true(READY)
    browser.await_true("document.querySelector('#causes-1 .ladder')")
    assert browser.value("window.hurt") is None and not browser.all("img")
    topics = browser.texts("select[name=topic] option")
    assert any("</script><img src=x onerror=" in topic for topic in topics)
    assert any("\\xff\\x1b.pcapng" in topic for topic in topics)
    assert browser.problems() == []


def test_a_damaged_file_is_told_of(tmp_path):
    path = tmp_path / "damaged.pcapng"
    path.write_bytes(b"no capture")
    content = content_of(path, folder=tmp_path)
    assert content["causes"] == content["cases"] == []
    assert len(content["alerts"]) == 1 and "damaged.pcapng" in content["alerts"][0]

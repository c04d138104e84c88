"""What an update writes of the run beside the rows."""

import datetime

import pytest
import yaml

from steertag.baseline import load_report
from steertag.baseline.update import update
from steertag.testing.run_files import entry, row, write_report

TARGET = "some-target"
TODAY = datetime.date(2026, 11, 21)
NEW = "software: 'Linux: 6'\nsteertag: 0.1.0\ncases: 1\n"


def updated(tmp_path, text, **head):
    """The text after an update by a report with one failure."""
    case = entry("server.a", "fail", "saw silence", ["RFC8166-4.5.1-1"])
    head = {"software": "Linux: 6"} | head
    report = write_report(tmp_path / "report.json", [case], **head)
    return update(tmp_path / "it.yaml", text, [load_report(report)], TARGET, TODAY).text


@pytest.mark.parametrize(
    "text, expected",
    [
        (f"{NEW}rows: []\n", NEW),
        ("software: Linux\n  5\nsteertag:\ncases: 900\nrows: []\n", NEW),
        ("rows: []\nsoftware: |\n  Linux\n  5\ncases: 7\n", "software: 'Linux: 6'\ncases: 1\n"),
        ("rows: []\n", f"target: {TARGET}\nrows:\n"),
        ("cases: 900 # of them\nrows: []\n", "cases: 1 # of them\n"),
    ],
)
def test_what_a_file_says_of_the_run_is_kept_current(tmp_path, text, expected):
    written = updated(tmp_path, f"target: {TARGET}\n{text}")
    assert expected in written
    content = yaml.safe_load(written)
    assert content["rows"] == [row("server.a", note="")]
    assert ("cases" in content) == ("cases" in text)


def test_more_cases_that_pass_change_the_number_alone(tmp_path):
    rows = [entry("server.a", "pass"), entry("server.b", "pass")]
    report = load_report(write_report(tmp_path / "report.json", rows))
    text = f"target: {TARGET}\ncases: 1\nrows: []\n"
    result = update(tmp_path / "it.yaml", text, [report], TARGET, TODAY)
    assert (result.cases, result.nothing()) == (2, False)
    assert "cases: 2\n" in result.text and "date: 2026-11-21\n" in result.text
    again = update(tmp_path / "it.yaml", result.text, [report], TARGET, TODAY)
    assert again.nothing() and again.text == result.text


def test_a_new_file_says_what_was_run(tmp_path):
    assert f"target: {TARGET}\ndate: 2026-11-21\n{NEW}rows:\n" in updated(tmp_path, "")


def test_a_part_of_the_suite_says_nothing_of_the_whole(tmp_path):
    head = updated(tmp_path, "", partial=True).partition("rows:")[0]
    assert "cases" not in head and "software" not in head


def test_the_kernel_of_a_lab_machine_is_kept_current(tmp_path):
    software = "ganesha 4 on Linux 6.1.0-56-amd64 (Debian 6.1.192-2) with a.patch"
    head = updated(tmp_path, "", software=software).partition("rows:")[0]
    assert yaml.safe_load(head)["kernel"] == "6.1.192-2"
    older = f"target: {TARGET}\nkernel: 6.1.176-1\nrows: []\n"
    assert "kernel: 6.1.192-2\nrows:" in updated(tmp_path, older, software=software)

"""Tests of the comparison of grade with the plugin: whatever only one of them has is found, in damaged and in
merged files too."""

import pathlib
import tempfile

import pytest

from ci.jobs.agreement import agreement_command, plugin_agreement
from ci.jobs.agreement.agreement_result import CannotCompare
from ci.jobs.fixtures import golden_texts
from ci.jobs.fixtures.fixture_places import CAPTURES

import capture_files
import roce_packet
from steertag.grade.reading import grade_file

OVERRUN = CAPTURES / "situations" / "10-credit-overrun.pcapng"
DONE = CAPTURES / "situations" / "10-done.pcapng"
ROWS = [
    (10, "1", "RFC8166-3.3.1-4", "calls_stay_within_grant", "client"),
    (10, "1", "RFC8166-3.3.1-6", "calls_stay_within_request", "client"),
]


def compare(rows, packets=16, path=OVERRUN):
    """What is said if the plugin shows this in both passes."""
    return plugin_agreement.compare(grade_file(str(path), []), lambda passes: (packets, rows))


def test_the_same_rows_agree():
    assert compare(ROWS[::-1]) == []


@pytest.mark.parametrize("place", range(5))
def test_whatever_of_a_row_differs_is_found(place):
    other = list(ROWS[0])
    other[place] = "another"
    problems = compare([tuple(other), ROWS[1]])
    assert [each.split(" (")[0] for each in problems] == [
        "one pass: the plugin does not show",
        "one pass: only the plugin shows",
        "two passes: the plugin does not show",
        "two passes: only the plugin shows",
    ]


def test_a_row_more_or_less_is_found():
    assert len(compare(ROWS[:1])) == 2
    assert len(compare([*ROWS, ROWS[0]])) == 2


class Connection:
    """A connection. Grade counted so many of its findings without listing them."""

    def __init__(self, number, findings_dropped):
        self.number, self.findings_dropped = number, findings_dropped


def test_as_many_more_as_grade_counted_without_listing_them_agree_and_no_more():
    more = [(number, *ROWS[0][1:]) for number in (11, 12)]
    for dropped, left in ((0, 2), (1, 1), (2, 0), (3, 0)):
        listed = plugin_agreement.without_unlisted(
            ROWS, [*ROWS, *more], [Connection(1, dropped), Connection(2, 9)]
        )
        assert len(plugin_agreement.difference(ROWS, listed)) == left
    assert plugin_agreement.without_unlisted(ROWS, more, [Connection(1, 2)]) == []


def test_packets_that_one_does_not_read_are_found():
    assert compare(ROWS, 15)[0] == "one pass: tshark reads 15 packets, grade 16"


def test_a_merged_file_has_what_its_parts_have(tmp_path):
    merged = tmp_path / "merged.pcapng"
    plugin_agreement.merge([OVERRUN, DONE], merged)
    graded = grade_file(str(merged), [])
    assert graded.rows
    assert plugin_agreement.compare_merged([OVERRUN, DONE], graded) == []
    problems = plugin_agreement.compare_merged([DONE, OVERRUN], graded)
    assert {each.partition(" (")[0] for each in problems} == {
        "merged, grade does not find",
        "only merged, grade finds",
    }


@pytest.mark.parametrize("bent", [0, 1])
def test_the_crc_of_a_packet_elsewhere_is_as_right_as_before(bent):
    ethernet, frames = capture_files.read((CAPTURES / "linux-6.1-rxe-v3.pcapng").read_bytes())
    at = plugin_agreement.ETHERNET_BYTES
    right = next(each.data for each in frames if roce_packet.is_ours(each.data))
    packet = bytearray(right)
    packet[-1] ^= bent
    moved = plugin_agreement.elsewhere(bytes(packet), ethernet, 7)
    assert (moved[at + 13], moved[at + 17]) == (7, 7)
    assert roce_packet.has_right_crc(moved[at:]) == (not bent)


def test_a_plugin_that_is_not_built_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STEERTAG_BUILD", str(tmp_path))
    with pytest.raises(CannotCompare, match="STEERTAG_DISSECTOR"):
        plugin_agreement.wireshark(tmp_path)
    assert agreement_command.main(["--fixtures", str(tmp_path)]) == 2
    assert "no plugin" in capsys.readouterr().err


# -- with tshark ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def programs():
    if reason := golden_texts.why_no_tshark():
        pytest.skip(reason)
    # Not one of pytest's own, which no other user can use.
    with tempfile.TemporaryDirectory(prefix="steertag-agreement-") as home:
        yield plugin_agreement.wireshark(pathlib.Path(home))


def test_the_plugin_shows_what_grade_finds(programs):
    copy = programs.readable(OVERRUN)
    assert [plugin_agreement.shown(programs, copy, passes) for passes in (1, 2)] == [(16, ROWS)] * 2
    (result,) = plugin_agreement.results_of_singles([OVERRUN], programs, 1)
    assert (result.problems, result.findings) == ([], 2)
    (result,) = plugin_agreement.results_of_batches([OVERRUN, OVERRUN], programs, 1)
    assert (result.problems, result.findings) == ([], 4)


def test_a_damaged_file_is_compared_up_to_the_damage(programs, tmp_path):
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(OVERRUN.read_bytes()[:-7])
    copy = programs.readable(cut)
    assert plugin_agreement.shown(programs, copy, 1, damaged=True) == (15, ROWS)
    with pytest.raises(CannotCompare, match="cut short"):
        plugin_agreement.shown(programs, copy, 1)
    (result,) = plugin_agreement.results_of_singles([cut], programs, 1)
    assert (result.problems, result.findings) == ([], 2)


def test_what_wireshark_does_not_know_must_stay_unknown(programs, monkeypatch):
    monkeypatch.setattr(plugin_agreement, "UNKNOWN_TO_WIRESHARK", {OVERRUN.stem})
    (result,) = plugin_agreement.results_of_singles([OVERRUN], programs, 1)
    assert result.problems == ["Wireshark knows it by now: compare it"]

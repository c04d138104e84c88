"""The table of pairs, of cases and of what ran."""

from ..suite.cases.environments import ENVIRONMENTS
from .pairs import message_pairs, missing_lines, pair_lines

IDS = [f"server.combination.null.{each}" for each in ENVIRONMENTS]


def test_all_environments_have_all_pairs():
    rows = message_pairs([*IDS, "server.header.version-zero"], {})
    table = list(pair_lines(rows))
    assert len(rows) == 1 and not list(missing_lines(rows))
    assert table[-1] == "48 of 48 pairs: 48 of two values for each of 1 messages"
    assert table[1].split() == ["server", "null", *"2 2 2 3 3 3 3 3 3 3 3".split()]


def test_missing_environment_shows():
    rows = message_pairs([*IDS[:-1], *(each.replace("null", "read") for each in IDS)], {})
    assert list(pair_lines(rows))[-1].startswith("90 of 96 pairs")
    missing = list(missing_lines(rows))
    assert len(missing) == 6
    assert missing[0] == "missing: inline 262144 with R set: server null"


def test_a_value_that_no_environment_has_is_missing():
    rows = message_pairs([each for each in IDS if "262144" not in each], {})
    missing = list(missing_lines(rows))
    assert "missing: inline 262144 with no CRC: all messages" in missing
    assert list(pair_lines(rows))[1].split()[4] == "-", "the column of the value stays"


def test_a_suite_without_combinations_has_no_pairs():
    (line,) = missing_lines(message_pairs(["server.header.version-zero"], {}))
    assert line.startswith("missing: there is no case")


def test_cases_that_asserted_nothing_do_not_count():
    verdicts = {each: "pass" for each in IDS} | {IDS[-1]: "not-testable"}
    rows = message_pairs(IDS, verdicts)
    assert rows[0].count("inline", 262144) == 1


def test_a_case_counts_in_the_environment_that_it_met():
    """A peer that announces less makes another environment of it."""
    verdicts = dict.fromkeys(IDS, "pass")
    met = {IDS[-1]: "inline-4096-invalidates-reconnected-crowded", IDS[-2]: "inline-4096"}
    (row,) = message_pairs(IDS, verdicts, met)
    assert row.count("inline", 262144) == 0 and row.count("inline", 4096) == 4
    assert "missing: inline 262144 with no CRC: all messages" in list(missing_lines([row]))

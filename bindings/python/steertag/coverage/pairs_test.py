"""The table of pairs, of cases and of what ran."""

from ..suite.cases.environments import ENVIRONMENTS
from .pairs import message_pairs, pair_lines

IDS = [f"server.combination.null.{each}" for each in ENVIRONMENTS]


def test_all_environments_have_all_pairs():
    rows = message_pairs([*IDS, "server.header.version-zero"], {})
    table = list(pair_lines(rows))
    assert len(rows) == 1
    assert table[-1] == "48 of 48 pairs: 48 of two values for each of 1 messages"
    assert table[1].split() == ["server", "null", *"2 2 2 3 3 3 3 3 3 3 3".split()]


def test_missing_environment_shows():
    table = list(pair_lines(message_pairs(IDS[:-1], {})))
    assert table[-1].startswith("42 of 48 pairs")


def test_cases_that_asserted_nothing_do_not_count():
    verdicts = {each: "pass" for each in IDS} | {IDS[-1]: "not-testable"}
    rows = message_pairs(IDS, verdicts)
    assert rows[0].count("inline", 262144) == 1

"""The nearest known words."""

import pytest

from steertag.suggestions import did_you_mean, nearest

KNOWN = ["grants-zero", "grants-none", "pad-not-zero", "RFC8166-4.5.1-1"]


@pytest.mark.parametrize(
    "word, first",
    [
        ("grants-zer", "grants-zero"),
        ("grant-zero", "grants-zero"),
        ("GRANTS-ZERO", "grants-zero"),
        ("rfc8166-4.5.1-11", "RFC8166-4.5.1-1"),
    ],
)
def test_the_nearest_word_is_first(word, first):
    assert nearest(word, KNOWN)[0] == first


def test_nothing_is_suggested_if_nothing_is_near():
    assert did_you_mean("xylophone", KNOWN) == ""


def test_a_sentence_ends_with_the_near_words():
    assert did_you_mean("rfc8166-4.5", KNOWN) == "; did you mean RFC8166-4.5.1-1?"
    known = ["one-word", "one-words", "one-wort"]
    assert did_you_mean("one-word", known) == "; did you mean one-word, one-words or one-wort?"

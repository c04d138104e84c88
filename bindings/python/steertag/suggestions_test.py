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
    assert did_you_mean("grants-zer", KNOWN) == "; did you mean grants-none or grants-zero?" or (
        did_you_mean("grants-zer", KNOWN) == "; did you mean grants-zero or grants-none?"
    )
    assert did_you_mean("pad-not-zer", KNOWN) == "; did you mean pad-not-zero?"

"""The environments are a covering array of strength two."""

import itertools

import pytest

from .environments import AXES, Environment, ENVIRONMENTS

# Named here too: an array whose rows lost a value would hold each pair of those that are left.
WANTED = {
    "inline": (1024, 4096, 262144),
    "invalidates": (False, True),
    "crc_off": (False, True),
    "reconnected": (False, True),
    "crowded": (False, True),
}


def test_the_axes_have_the_wanted_values():
    assert AXES == WANTED


def test_every_pair_of_values_is_in_an_environment():
    for first, second in itertools.combinations(WANTED, 2):
        wanted = set(itertools.product(WANTED[first], WANTED[second]))
        found = {(getattr(each, first), getattr(each, second)) for each in ENVIRONMENTS}
        assert found == wanted, f"pairs of {first} and {second}"


def test_texts_differ():
    assert len({str(each) for each in ENVIRONMENTS}) == len(ENVIRONMENTS)
    assert str(ENVIRONMENTS[1]) == "inline-1024-invalidates-crc-off-reconnected"
    for each in ENVIRONMENTS:
        assert Environment.of(str(each)) == each


@pytest.mark.parametrize(
    "text", ["", "inline", "inline-x", "inline-1024-crowded-crc-off", "inline-1024-odd"]
)
def test_another_text_is_no_environment(text):
    with pytest.raises(ValueError):
        Environment.of(text)

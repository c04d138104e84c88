"""The environments are a covering array of strength two."""

import itertools

from .environments import AXES, ENVIRONMENTS


def test_every_pair_of_values_is_in_an_environment():
    values = {axis: {getattr(each, axis) for each in ENVIRONMENTS} for axis in AXES}
    for first, second in itertools.combinations(AXES, 2):
        wanted = set(itertools.product(values[first], values[second]))
        found = {(getattr(each, first), getattr(each, second)) for each in ENVIRONMENTS}
        assert found == wanted, f"pairs of {first} and {second}"


def test_texts_differ():
    assert len({str(each) for each in ENVIRONMENTS}) == len(ENVIRONMENTS)
    assert str(ENVIRONMENTS[1]) == "inline-1024-invalidates-crc-off-reconnected"

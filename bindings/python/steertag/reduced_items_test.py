"""What a message claims of its reduced items takes no memory without bounds."""

import types

import pytest

from steertag import reduced_items, wire
from steertag.reduced_items import MOST_ITEM_OCTETS


def items(*lengths):
    return [types.SimpleNamespace(position=4, length=each, reduced=True) for each in lengths]


def put_back(*lengths):
    return reduced_items._put_all_back(bytes(8), items(*lengths), [b""] * len(lengths))


def test_items_of_the_usual_size_are_put_back():
    assert len(put_back(1 << 20, 5)) == 8 + (1 << 20) + 8


@pytest.mark.parametrize("lengths", [[1 << 32], [MOST_ITEM_OCTETS], [MOST_ITEM_OCTETS // 8] * 9])
def test_all_items_together_have_a_limit(lengths):
    with pytest.raises(wire.DecodeError, match="was asked for by no call"):
        put_back(*lengths)

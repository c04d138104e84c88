"""The engine's data classes are those of dataclasses, whichever way they are used first."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys

import pytest

from steertag import data_class, wire


@pytest.fixture
def pair():
    """A class with a field that holds another, both fresh."""
    inner = data_class.make("Inner", __name__, "Inside.", [("octets", b"")])
    outer = data_class.make("Outer", __name__, "Around.", [("inner", inner()), ("items", [])])
    return inner, outer


def is_complete(cls):
    return "__dataclass_fields__" in vars(cls)


def test_a_class_is_completed_by_its_first_constructor(pair):
    inner, outer = pair
    assert is_complete(inner) and not is_complete(outer)
    assert outer(inner(b"a"), [1]) == outer(items=[1], inner=inner(octets=b"a"))
    assert is_complete(outer)


@pytest.mark.parametrize(
    "ask",
    [
        lambda cls: [each.name for each in dataclasses.fields(cls)],
        lambda cls: list(inspect.signature(cls).parameters),
        lambda cls: list(cls.__match_args__),
        lambda cls: list(dataclasses.asdict(cls())),
    ],
)
def test_it_tells_its_fields(pair, ask):
    _, outer = pair
    assert dataclasses.is_dataclass(outer)
    assert ask(outer) == ["inner", "items"]


def test_instances_share_no_default(pair):
    _, outer = pair
    one, other = outer(), outer()
    one.items.append(1)
    one.inner.octets = b"changed"
    assert (other.items, other.inner.octets) == ([], b"")


def test_what_does_not_fit_is_refused(pair):
    inner, _ = pair
    with pytest.raises(
        TypeError, match=r"Inner.__init__\(\) got an unexpected keyword argument 'a'"
    ):
        inner(a=1)
    with pytest.raises(AttributeError):
        inner().a = 1
    assert inner() != wire.Segment() and inner.__hash__ is None


PROGRAM = """
from steertag import wire
header, _ = wire.decode(wire.encode(wire.Draft(xid=7)))
assert "__dataclass_fields__" not in vars(wire.Header)
print(header.xid)
"""


def test_the_engine_makes_values_of_a_class_that_is_not_complete():
    assert subprocess.check_output([sys.executable, "-c", PROGRAM], text=True) == "7\n"


def test_values_are_copied_and_pickled():
    draft = wire.Draft(xid=7, payload=b"octets")
    assert copy.deepcopy(draft) == pickle.loads(pickle.dumps(draft)) == draft
    assert repr(wire.Segment(1, 2, 3)) == "Segment(handle=1, length=2, offset=3)"

"""Records whose octets change and whose fragments stay."""

from .fragments import in_fragments


def mark(length, last=True):
    return (length | (last << 31)).to_bytes(4, "big")


def upper(octets):
    return octets.upper()


def swapped(octets):
    return octets.replace(b"handle-1", b"handle-2")


def test_a_value_across_fragments_is_found():
    octets = mark(6, last=False) + b"..hand" + mark(0, last=False) + mark(4) + b"le-1"
    changed = mark(6, last=False) + b"..hand" + mark(0, last=False) + mark(4) + b"le-2"
    assert in_fragments(octets, swapped) == changed


def test_what_is_no_record_changes_as_it_stands():
    for octets in (b"abc", mark(9) + b"abc", mark(3, last=False) + b"abc"):
        assert in_fragments(octets, upper) == octets.upper()

"""Records are found in octets with fragments, a cut end, or neither."""

import pytest

from steertag.traces.record_marking import whole_records


def fragment(octets, last=True):
    return (len(octets) | last << 31).to_bytes(4, "big") + octets


@pytest.mark.parametrize(
    "octets, records, rest",
    [
        (fragment(b"abcd") + fragment(b"efghi"), [b"abcd", b"efghi"], b""),
        (fragment(b"ab", last=False) + fragment(b"cdef"), [b"abcdef"], b""),
        (fragment(b"abcd") + fragment(b"efgh")[:6], [b"abcd"], fragment(b"efgh")[:6]),
        (fragment(b"abcd") + b"\x80", [b"abcd"], b"\x80"),
        (b"no record at all", [], b"no record at all"),
        (fragment(b""), [], fragment(b"")),
        (b"", [], b""),
    ],
)
def test_records_and_what_is_behind_them(octets, records, rest):
    assert whole_records(octets) == (records, rest)

"""Records are found in octets with fragments, a cut end, or neither."""

import pytest

from steertag.traces.stream_records import whole_records


def fragment(octets, last=True):
    return (len(octets) | last << 31).to_bytes(4, "big") + octets


@pytest.mark.parametrize(
    "octets, records, is_cut",
    [
        (fragment(b"abcd") + fragment(b"efghi"), [b"abcd", b"efghi"], False),
        (fragment(b"ab", last=False) + fragment(b"cdef"), [b"abcdef"], False),
        (fragment(b"abcd") + fragment(b"efgh")[:6], [b"abcd"], True),
        (fragment(b"abcd") + b"\x80", [b"abcd"], True),
        (b"\x7fno record at all", [], False),
        (fragment(b"abcd")[:6], [], False),
        (b"", [], False),
    ],
)
def test_records_and_what_is_behind_them(octets, records, is_cut):
    assert whole_records(octets) == (records, is_cut)

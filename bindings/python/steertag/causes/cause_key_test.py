"""What makes two causes the same, and what keeps them apart."""

import pytest

from steertag.causes import normalised
from steertag.causes.cause_key import split_reason


@pytest.mark.parametrize(
    "text, key",
    [
        ("rdma_credit 0 with rdma_xid 0x2b74b9b1", "rdma_credit N with rdma_xid N"),
        ("octets [3e3dcc96 00000001 ...]", "octets [N N ...]"),
        ("1,432 octets at offset 17", "N octets at offset N"),
        ("saw nfs:NFS4ERR_BADXDR or err-chunk", "saw nfs:NFS4ERR_BADXDR or err-chunk"),
        ("not valid (RFC 5040 5.3)", "not valid (RFC 5040 5.3)"),
        ("RFC8166-3.3.1-5 was broken in deadbeef", "RFC8166-3.3.1-5 was broken in deadbeef"),
        ("IBA-A17-1: 0, not 2 of 13 packets", "IBA-A17-1: N, not N of N packets"),
    ],
)
def test_numbers_go_and_words_and_clauses_stay(text, key):
    assert normalised(text) == key


@pytest.mark.parametrize(
    "reason, parts",
    [
        ("RFC8166-3.3.1-5: grant: saw 0", ("RFC8166-3.3.1-5", "grant: saw 0")),
        ("RFC8166-4.2.2-a: dropped", ("RFC8166-4.2.2-a", "dropped")),
        ("the server process ended", ("", "the server process ended")),
    ],
)
def test_a_reason_names_its_requirement_first(reason, parts):
    assert split_reason(reason) == parts

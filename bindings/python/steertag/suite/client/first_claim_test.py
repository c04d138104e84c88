"""What is claimed of a first use: wrong data come before its messages."""

import types

import pytest

from steertag.suite.client.client_kinds import CORRUPTED, REFUSED
from steertag.suite.client.first_claim import first_claim

OWED = "RFC5531-9-1"


@pytest.mark.parametrize(
    "kind, reason", [(CORRUPTED, f"{OWED}: the copy differs from the source"), (REFUSED, None)]
)
def test_a_wrong_copy_is_the_clients(kind, reason):
    connection = types.SimpleNamespace(journal_text=lambda: "the trace")
    outcome = types.SimpleNamespace(kind=kind, connections=[connection])
    failed = first_claim(outcome, OWED)
    assert (failed and failed.reason) == reason


def test_without_a_connection_nothing_is_claimed():
    assert first_claim(types.SimpleNamespace(kind=CORRUPTED, connections=[]), OWED) is None

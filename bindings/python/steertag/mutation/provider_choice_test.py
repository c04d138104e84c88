"""Which provider a deviation is tried over, and which deviations are below its messages."""

import pytest

from steertag.mutation.deviating_peer import CannotScore, Deviation
from steertag.mutation.provider_choice import listening, parted

OF_MESSAGES = Deviation("a", "RFC8166-4.2.1-1")
OF_MPA = Deviation("b", "RFC5044-4.1-1")
ITS_OTHER_ROW = Deviation("b", "RFC8166-3.1-1", True)
OTHER_ROW_OF_DDP = Deviation("a", "RFC5041-4.1-1", True)
OF_INFINIBAND = Deviation("c", "IBA-9.7-1")
OF_DIRECT_ACCESS = Deviation("d", "ODAFS-5")
OF_A_ROW_OF_RDMAP = Deviation("e", "ODAFS-34")
ALL = [OF_MESSAGES, OF_MPA, OF_INFINIBAND, ITS_OTHER_ROW, OTHER_ROW_OF_DDP]


def test_without_a_provider_rows_about_infiniband_are_broken_over_roce():
    assert listening("IBA-9.7-1") == ["--listen", "roce://127.0.0.1:0"]
    assert listening("RFC8166-4.5.1-1") == listening("RFC5044-4.1-1") == []


@pytest.mark.parametrize("provider", ["iwarp", "roce"])
def test_a_provider_has_all_runs(provider):
    for requirement in ("IBA-9.7-1", "RFC8166-4.5.1-1"):
        assert listening(requirement, provider) == ["--listen", f"{provider}://127.0.0.1:0"]


def test_what_is_below_the_messages_of_another_provider_is_parted():
    assert parted(ALL, None) == (ALL, [])
    below_iwarp = [OF_MPA, ITS_OTHER_ROW, OTHER_ROW_OF_DDP]
    assert parted(ALL, "roce") == ([OF_MESSAGES, OF_INFINIBAND], below_iwarp)
    assert parted(ALL, "iwarp")[1] == [OF_INFINIBAND]


def test_one_row_may_be_below_messages_alone():
    found = parted([OF_DIRECT_ACCESS, OF_A_ROW_OF_RDMAP], "roce")
    assert found == ([OF_DIRECT_ACCESS], [OF_A_ROW_OF_RDMAP])


def test_nothing_to_try_is_one_error():
    with pytest.raises(CannotScore, match="none of these deviations is about messages"):
        parted([OF_MPA], "roce")

"""A log of writes that was made by hand is read as it was meant."""

import pytest

from lab.failure import LabFailure
from lab.power import written_log
from lab.power.write_log import DISCARD, ENTRY, FLUSH, FUA, MAGIC, MARK, SUPER, WriteLog
from lab.power.written_log import SECTOR

ONE, TWO = b"1" * SECTOR, b"2" * 2 * SECTOR


def test_entries_in_their_order_with_their_data(tmp_path):
    path = written_log.write(
        tmp_path / "log",
        [(8, ONE, 0), (0, b"", FLUSH), (4, TWO, FUA), (9, TWO, DISCARD), (6, ONE, 0)],
    )
    log = WriteLog(path)
    told = [(entry.offset // SECTOR, entry.length, entry.flags) for entry in log.entries]
    assert told == [
        (8, SECTOR, 0),
        (0, 0, FLUSH),
        (4, 2 * SECTOR, FUA),
        (9, 2 * SECTOR, DISCARD),
        (6, SECTOR, 0),
    ]
    assert [entry.writes for entry in log.entries] == [True, False, True, False, True]
    assert log.data(log.entries[0]) == ONE and log.data(log.entries[2]) == TWO
    assert log.data(log.entries[4]) == ONE, "a discard has no data in the log"
    assert log.entries[-1].end == path.stat().st_size
    log.close()


def test_the_text_of_a_mark_is_in_the_sector_of_its_header(tmp_path):
    path = tmp_path / "log"
    mark = (ENTRY.pack(0, 0, MARK, 4) + b"mark").ljust(SECTOR, b"\0")
    write = ENTRY.pack(3, 1, 0, 0).ljust(SECTOR, b"\0") + ONE
    path.write_bytes(SUPER.pack(MAGIC, 1, 2, SECTOR).ljust(SECTOR, b"\0") + mark + write)
    log = WriteLog(path)
    assert [entry.writes for entry in log.entries] == [False, True]
    assert log.data(log.entries[1]) == ONE
    log.close()


def test_what_the_first_sector_does_not_count_is_not_read(tmp_path):
    log = WriteLog(written_log.write(tmp_path / "log", [(0, ONE, 0), (1, ONE, 0)], count=1))
    assert len(log.entries) == 1
    log.close()


@pytest.mark.parametrize(
    "octets, sentence",
    [
        (b"", "is cut off at octet 0"),
        (bytes(SECTOR), "is no log of writes"),
        (SUPER.pack(MAGIC, 2, 0, SECTOR), "is no log of writes of version 1"),
        (SUPER.pack(MAGIC, 1, 0, 0), "is no log of writes"),
        (SUPER.pack(MAGIC, 1, 1 << 40, SECTOR), "more than"),
        (SUPER.pack(MAGIC, 1, 1, SECTOR).ljust(SECTOR, b"\0"), f"is cut off at octet {SECTOR}"),
        (
            SUPER.pack(MAGIC, 1, 1, SECTOR).ljust(SECTOR, b"\0")
            + ENTRY.pack(0, 9, 0, 0).ljust(SECTOR, b"\0"),
            "ends inside entry 0",
        ),
    ],
)
def test_what_is_no_log_is_named(tmp_path, octets, sentence):
    path = tmp_path / "log"
    path.write_bytes(octets)
    with pytest.raises(LabFailure, match=sentence):
        WriteLog(path)

"""Files with layouts, as the report prints them."""

import types
import zlib

from steertag.grade import file_lines, grade_document

ALL = (1 << 64) - 1
GRANTED = {"connection": 1, "frame": 12}
RETURNED = {"connection": 1, "frame": 80}


def made(**fields):
    """What the engine gives of one file."""
    values = {
        "client": 1,
        "handle": bytes(range(20)),
        "device": bytes(16),
        "data_servers": [["192.0.2.2:20049 (rdma)"], ["192.0.2.3:20049 (rdma)"]],
        "stripe_unit_bytes": 8192,
        "dense": False,
        "commits_through_server": False,
        "ranges": [
            {"offset": 0, "length": ALL, "iomode": "rw", "granted": GRANTED, "returned": RETURNED}
        ],
        "at_data_servers": {"read": 1, "written": 2},
        "at_metadata_server": {"read": 3, "written": 4},
    }
    return types.SimpleNamespace(**{**values, **fields})


def text(*files):
    return "\n".join(file_lines.files(types.SimpleNamespace(files=list(files))))


def test_a_file_has_all_that_its_layout_says():
    shown = " ".join(text(made()).split())
    for part in (
        f"file fh #{zlib.crc32(bytes(range(20))):08x} of client 1",
        "sparse packing, stripe unit 8192, COMMIT at the data servers, device 00000000..00000000",
        "data servers 192.0.2.2:20049 (rdma), 192.0.2.3:20049 (rdma)",
        "0 to the end, rw, granted in frame 12 of connection 1, returned in frame 80 of connection 1",
        "1 read, 2 written at data servers; 3 read, 4 written at the metadata server",
    ):
        assert part in shown


def test_the_other_pattern():
    shown = text(made(dense=True, commits_through_server=True, data_servers=[]))
    assert "dense packing" in shown and "COMMIT at the metadata server" in shown
    assert "unknown: no reply to GETDEVICEINFO was seen" in shown


def test_a_range_inside_the_file():
    one = {"offset": 8, "length": 4, "iomode": "read", "granted": GRANTED, "returned": None}
    assert "8 to 12, read, granted in frame 12 of connection 1\n" in text(made(ranges=[one]))


def test_files_beyond_the_most_are_counted():
    files = [made()] * (file_lines.MOST_FILES_LISTED + 3)
    assert text(*files).endswith("... and 3 more files, which --json lists")


def test_the_document_has_words_for_flags():
    layout = grade_document.layout(made(dense=True))
    assert (layout["packing"], layout["commit"]) == ("dense", "data-servers")
    assert layout["handle"] == bytes(range(20)).hex()
    assert layout["at_data_servers"] == {"read": 1, "written": 2}

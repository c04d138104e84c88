"""The plugin and Wireshark's own InfiniBand dissector read the same fields of transport and CM
headers.

Both know the formats from different sources.
"""

import pytest
import tshark

CAPTURES = (
    tshark.CAPTURES / "linux-6.1-rxe-v3.pcapng",
    tshark.CAPTURES / "linux-6.1-rxe-v4.1.pcapng",
    tshark.CAPTURES / "broken" / "roce-erf.pcapng",
)
OPERATION = ("steertag.operation.stag", "steertag.operation.offset", "steertag.operation.length")
RETH = ("infiniband.reth.r_key", "infiniband.reth.va", "infiniband.reth.dmalen")
IETH, INVALIDATED = "infiniband.ieth", "steertag.invalidated"
DATA, OPENING = "steertag.private_data", "steertag.opening"
REQUEST_DATA, REPLY_DATA = "infiniband.cm.req.ip_cm.private", "infiniband.cm.rep.private"
OPCODE, READ_REQUEST, WRITE_ONLY = "infiniband.bth.opcode", "12", "10"
FIELDS = (*OPERATION, *RETH, IETH, INVALIDATED, DATA, OPENING, REQUEST_DATA, REPLY_DATA, OPCODE)


def number(text):
    return int(text, 0)


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_wireshark_reads_the_same(wireshark, capture):
    wanted = [part for field in FIELDS for part in ("-e", field)]
    # The request is reported once its reply shows the queue pair, so the test needs two passes.
    text = wireshark.tshark(capture, "-T", "fields", "-E", "occurrence=f", *wanted, passes=2)
    compared = dict.fromkeys(("operation", "length", "invalidated", "connect", "accept"), 0)
    for index, line in enumerate(text.splitlines(), 1):
        shown = dict(zip(FIELDS, line.split("\t")))
        if shown[RETH[0]]:
            values = [[number(shown[name]) for name in names] for names in (OPERATION, RETH)]
            whole = shown[OPCODE] in (READ_REQUEST, WRITE_ONLY)
            parts = 3 if whole else 2  # each packet of a Write is shown with its own
            assert values[0][:parts] == values[1][:parts], f"frame {index}"
            compared["operation"] += 1
            compared["length"] += whole
        if shown[IETH]:
            assert number(shown[INVALIDATED]) == int(shown[IETH], 16), f"frame {index}"
            compared["invalidated"] += 1
        if shown[OPENING]:
            data = shown[REQUEST_DATA if shown[OPENING] == "connect" else REPLY_DATA]
            assert shown[DATA] == data, f"frame {index}"
            compared[shown[OPENING]] += 1
    assert all(compared.values()), compared

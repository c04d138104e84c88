"""Which data server, filehandle and offset an octet has (RFC 8881 13.3, 13.4)."""

import dataclasses

import pytest

from steertag.suite import ANY, case, expect
from steertag.suite.nfs_client.file_layout import DENSE, parts, read_layout
from .striped_server import (
    bent_device,
    bent_layout,
    copied_by_data_servers,
    NEEDS,
    StripedServer,
    UNIT,
    use_striped,
)

HANDLE, OFFSET, UNITS = "RFC8881-13.3-7", "RFC8881-13.4.4-1", "RFC8881-13.4.1-1"
# nfl_fh_list, nfl_first_stripe_index and nflda_stripe_indices of RFC 8881 13.4.3.
TABLE_HANDLES, TABLE_FIRST = b"\x67\x37\x87\x36", 2
TABLE_INDICES = (2, 0, 1, 0)
# More than a file of these cases has.
MOST_OCTETS = 1 << 20
PATTERN_OFFSET = 3 * UNIT // 2
# A sparse hole of the reference server is where its own pattern has it.
WITHOUT_HOLES = ["hole-read"]


def _places(script):
    """[(Call, [file_layout.Part])]: READs and WRITEs at data servers, and all parts of a file by their layout."""
    devices = script.devices
    found = []
    for call in script.data_io:
        opened = bytes(call.io.stateid.other)
        layout = _layout_of(script, call, opened)
        if layout is not None and layout.device in devices:
            found.append((call, parts(layout, devices[layout.device], MOST_OCTETS)))
    return found


def _layout_of(script, call, opened):
    """The file_layout.FileLayout by which the call was made: that of the OPEN with its stateid."""
    files = set()
    for each in script.of("OPEN"):
        if each.succeeded("OPEN") and bytes(each.result("OPEN").stateid.other) == opened:
            files.add(each.file)
    got = [each for each in script.layouts if each.at < call.at and each.file in files]
    if not got:
        return None
    return read_layout(got[-1].result("LAYOUTGET").logr_layout[0].lo_content.loc_body)


def _octets(call):
    """(first octet, number) of READ or WRITE."""
    length = len(call.io.data) if "WRITE" in call else call.io.count
    return call.io.offset, length


def _joined(there):
    """Parts that follow each other in the file and at their data server are one: a READ of both is in its place."""
    whole = []
    for part in there:
        last = whole[-1] if whole else None
        if (
            last is not None
            and (last.server, last.handle) == (part.server, part.handle)
            and last.offset + last.length == part.offset
        ):
            whole[-1] = dataclasses.replace(last, length=last.length + part.length)
        else:
            whole.append(part)
    return whole


def expect_placed(bench, script, outcome, requirement_id=OFFSET, of_handle=HANDLE):
    """Each READ and WRITE at a data server is within stripe units that are there, one behind another."""
    placed = _places(script)
    for call, there in placed:
        offset, length = _octets(call)
        mine = [part for part in _joined(there) if part.server == call.server]
        by_handle = [part for part in mine if part.handle == call.handle]
        what = "the filehandle is the one that the layout has for the data server"
        expect.true(bool(by_handle), of_handle, what, outcome=outcome)
        inside = any(
            part.offset <= offset and offset + length <= part.offset + part.length
            for part in by_handle
        )
        what = "READ and WRITE are within stripe units that the data server has"
        expect.true(inside, requirement_id, what, outcome=outcome)
    copied_by_data_servers(bench, script, outcome, requirement_id)
    if not placed:
        bench.not_testable("no READ or WRITE at a data server belongs to an OPEN")


PACKINGS = {
    "sparse": {},
    "dense": {"dense": True},
    "dense-small-unit": {"dense": True, "unit": 64 * 17},
    "sparse-one-server": {"servers": 1},
    "dense-five-servers": {"dense": True, "servers": 5, "unit": 4096},
}


@case(
    "client.pnfs.striping.{name}",
    requirements=[HANDLE, OFFSET],
    needs=NEEDS,
    over=ANY,
    unfailed={"client.pnfs.striping.sparse-one-server": "There is one place for each octet."},
)
@pytest.mark.parametrize("name", PACKINGS)
def test_packing(bench, name):
    """A file is read and written at data servers. Each of its octets is asked for where the layout has it."""
    script = StripedServer()
    outcome = use_striped(bench, script, **PACKINGS[name])
    expect_placed(bench, script, outcome)


def _permuted(layout):
    """RFC 8881 13.4.4: the first stripe index is not 0."""
    layout.first = TABLE_FIRST


def _four_indices(device):
    """More stripe indices than data servers, as in the tables of RFC 8881 13.4.4."""
    device.indices = list(TABLE_INDICES)


@case("client.pnfs.striping.table", requirements=[HANDLE, UNITS], needs=NEEDS, over=ANY)
def test_table(bench):
    """Four stripe indices over three data servers, and a pattern that begins at the third, as in the RFC's tables of
    sparse packing."""
    script = StripedServer(results={**bent_layout(_permuted), **bent_device(_four_indices)})
    outcome = use_striped(bench, script, deviate=WITHOUT_HOLES)
    expect_placed(bench, script, outcome, UNITS)


class Dense(StripedServer):
    """A layout with dense packing, as in the RFC's table, in front of the reference server's with sparse packing."""

    def __init__(self):
        super().__init__(
            results={**bent_layout(self._pack), **bent_device(_four_indices)},
            arguments={"PUTFH": self._unpack_handle, "READ": self._unpack, "WRITE": self._unpack},
        )

    @staticmethod
    def _pack(layout):
        """The handles of the table, with those of the data servers behind them."""
        _permuted(layout)
        layout.util |= DENSE
        sparse = layout.handles
        layout.handles = [
            bytes([first]) + sparse[index if sparse[1:] else 0]
            for first, index in zip(TABLE_HANDLES, TABLE_INDICES)
        ]

    @staticmethod
    def _unpack_handle(_call, arguments):
        arguments.object = bytes(arguments.object)[1:]
        return True

    @staticmethod
    def _unpack(call, arguments):
        """The offset in the file, of one in what the handle has."""
        count = len(TABLE_INDICES)
        turn = (TABLE_HANDLES.find(call.handle[:1]) - TABLE_FIRST) % count
        stripe, octet = divmod(arguments.offset, UNIT)
        arguments.offset = (stripe * count + turn) * UNIT + octet
        return True


@case("client.pnfs.striping.table-dense", requirements=[HANDLE, OFFSET], needs=NEEDS, over=ANY)
def test_table_dense(bench):
    """Four stripe indices over three data servers, with a filehandle for each index, as in the RFC's tables of dense
    packing."""
    script = Dense()
    outcome = use_striped(bench, script, deviate=WITHOUT_HOLES)
    expect_placed(bench, script, outcome)


@case("client.pnfs.striping.pattern-offset", requirements=[UNITS], needs=NEEDS, over=ANY)
def test_pattern_offset(bench):
    """The pattern begins in the middle of the second stripe unit. Octets before it go to the
    metadata server."""

    def move(layout):
        layout.pattern_offset = PATTERN_OFFSET

    script = StripedServer(results=bent_layout(move))
    outcome = use_striped(bench, script, deviate=WITHOUT_HOLES)
    expect_placed(bench, script, outcome, UNITS, of_handle=UNITS)

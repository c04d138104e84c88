"""Layouts, devices and addresses that are of no use (RFC 8881 12.2.7, 13.3, 13.5)."""

import pytest

from steertag.suite import ANY, case, client_kinds as kinds, expect
from steertag.suite.nfs_client.file_layout import FLAGS
from .striped_server import (
    bent_device,
    bent_layout,
    copied_by_data_servers,
    need_io,
    NEEDS,
    NFS4,
    own_uses_data_servers,
    StripedServer,
    use_striped,
)

USELESS, OTHER_TYPE, HELD = "RFC8881-13.3-8", "RFC8881-12.2.7-2", "RFC8881-12.5.1-1"
NETIDS, PATHS, ASKED_AGAIN = "RFC8881-3.3.9-1", "RFC8881-13.5-1", "RFC8881-13.5-2"
BLOCK = NFS4.LayoutType.LAYOUT4_BLOCK_VOLUME
# A data server that no layout of these cases has, in a fourth place.
TRAP = 3
LARGEST = (1 << 32) - 1


def _set(**fields):
    """A bend of a layout or device: values, or functions of the value."""

    def bend(thing):
        for name, value in fields.items():
            setattr(thing, name, value(getattr(thing, name)) if callable(value) else value)

    return bend


def _words(*numbers):
    return b"".join(number.to_bytes(4, "big") for number in numbers)


LAYOUTS = {
    "unit-zero": _set(util=lambda util: util & FLAGS),
    "handles-two-of-three": _set(handles=lambda handles: handles[:2]),
    "handles-one-more": _set(handles=lambda handles: handles + handles[:1]),
    "device-unknown": _set(device=b"\xdd" * 16),
    "body-empty": lambda layout: b"",
    "body-cut": lambda layout: layout.encode()[:-4],
    "handles-number-largest": lambda layout: layout.encode()[:32] + LARGEST.to_bytes(4, "big"),
}
DEVICES = {
    "index-beyond": _set(indices=lambda indices: [*indices[:-1], len(indices)]),
    "index-largest": _set(indices=[LARGEST] * 3),
    "index-beyond-octet": _set(indices=lambda indices: [256 + index for index in indices]),
    "no-indices": _set(indices=[]),
    "no-servers": _set(servers=[]),
    "no-addresses": _set(servers=[[], [], []]),
    "address-long": _set(servers=lambda servers: [[(each[0][0], "1" * 1000)] for each in servers]),
    "device-empty": lambda device: b"",
    "device-cut": lambda device: device.encode()[:-4],
    "indices-number-largest": lambda device: LARGEST.to_bytes(4, "big"),
    "servers-number-largest": lambda device: _words(1, 0, LARGEST),
    "addresses-number-largest": lambda device: _words(1, 0, 1, LARGEST),
}
DENSE = {"dense-handles-one-less": _set(handles=lambda handles: handles[:-1])}
# What no deviation takes for a layout of use: there is nothing in it that could be asked.
VOID = [*DEVICES, "device-unknown", "body-empty", "body-cut", "handles-number-largest"]


@case(
    "client.pnfs.layout.{name}",
    requirements=[USELESS],
    needs=NEEDS,
    over=ANY,
    hostile=True,
    unfailed={
        f"client.pnfs.layout.{name}": "It names no place that could be asked." for name in VOID
    },
)
@pytest.mark.parametrize("name", [*LAYOUTS, *DEVICES, *DENSE])
def test_useless(bench, name):
    """The layout, or its device, is of no use. The client reads and writes at the metadata server."""
    if name in DEVICES:
        results = bent_device(DEVICES[name])
    else:
        results = bent_layout({**LAYOUTS, **DENSE}[name])
    script = StripedServer(results=results)
    outcome = use_striped(bench, script, dense=name in DENSE)
    what = "READs and WRITEs by a layout that is of no use"
    expect.equal(len(script.data_io), 0, USELESS, what, outcome=outcome)
    expect(outcome, USELESS, must=[kinds.COMPLETED])


def _of_blocks(_call, result):
    for each in result.resok4.logr_layout if int(result.status) == 0 else []:
        each.lo_content.loc_type = BLOCK
    return result


def _device_of_blocks(_call, result):
    if int(result.status) == 0:
        result.resok4.gdir_device_addr.da_layout_type = BLOCK
    return result


TYPES = {"layout": {"LAYOUTGET": _of_blocks}, "device": {"GETDEVICEINFO": _device_of_blocks}}


@case(
    "client.pnfs.type.other-{name}", requirements=[OTHER_TYPE], needs=NEEDS, hostile=True, over=ANY
)
@pytest.mark.parametrize("name", TYPES)
def test_other_type(bench, name):
    """The reply has a layout, or a device, of another type than was asked for. It is not used."""
    script = StripedServer(results=TYPES[name])
    outcome = use_striped(bench, script)
    what = "READs and WRITEs by what has another type"
    expect.equal(len(script.data_io), 0, OTHER_TYPE, what, outcome=outcome)
    expect(outcome, OTHER_TYPE, must=[kinds.COMPLETED])


def _ranged(**fields):
    """A bend of the parts that LAYOUTGET grants."""

    def change(_call, result):
        for each in result.resok4.logr_layout if int(result.status) == 0 else []:
            for name, value in fields.items():
                setattr(each, name, value)
        return result

    return {"LAYOUTGET": change}


@case("client.pnfs.range.read-only", requirements=[HELD], needs=NEEDS, hostile=True, over=ANY)
def test_read_only(bench):
    """Every layout has LAYOUTIOMODE4_READ, whatever was asked for. Nothing is written by it."""
    script = StripedServer(results=_ranged(lo_iomode=NFS4.LayoutIomode.LAYOUTIOMODE4_READ))
    outcome = use_striped(bench, script)
    what = "WRITEs at data servers without a layout for writing"
    expect.equal(len(script.at_data_servers("WRITE")), 0, HELD, what, outcome=outcome)
    copied_by_data_servers(bench, script, outcome, HELD)


RANGES = {
    "short": {"lo_length": 3 * 8192},
    "elsewhere": {"lo_offset": 6 * 8192, "lo_length": 3 * 8192},
    "beyond": {"lo_offset": 1 << 40},
}
# The same, with ends inside of stripe units.
RANGES_IN_UNITS = {
    "ends-in-unit": {"lo_length": 3 * 8192 - 1000},
    "in-units": {"lo_offset": 100, "lo_length": 3 * 8192},
}


@case(
    "client.pnfs.range.{name}",
    requirements=[HELD],
    needs=NEEDS,
    over=ANY,
    hostile=True,
    unfailed={f"client.pnfs.range.{name}": "Only the iomode is misread." for name in RANGES},
)
@pytest.mark.parametrize("name", RANGES)
def test_range(bench, name):
    """The layout covers a part of the file. Data servers are asked for octets of that part only."""
    _expect_within(bench, RANGES[name])


@case("client.pnfs.range.{name}", requirements=[HELD], needs=NEEDS, over=ANY, hostile=True)
@pytest.mark.parametrize("name", RANGES_IN_UNITS)
def test_range_in_units(bench, name):
    """The same of a part that begins or ends inside of a stripe unit. A transfer may begin in it and end behind it."""
    _expect_within(bench, RANGES_IN_UNITS[name])


def _expect_within(bench, fields):
    script = StripedServer(results=_ranged(**fields))
    outcome = use_striped(bench, script)
    first = fields.get("lo_offset", 0)
    end = first + fields.get("lo_length", 1 << 62)
    what = "READ and WRITE at data servers are within the range of the layout"
    for call in script.data_io:
        length = len(call.io.data) if "WRITE" in call else call.io.count
        inside = first <= call.io.offset and call.io.offset + length <= end
        expect.true(inside, HELD, what, outcome=outcome)
    expect(outcome, HELD, must=[kinds.COMPLETED])


# -- addresses ----------------------------------------------------------------------------------------------------


def _addressed(change):
    """A bend of each multipath list: change([(netid, address)]) -> the same."""
    return bent_device(
        _set(
            servers=lambda servers: [change(list(each)) for each in servers[:3]], indices=[0, 1, 2]
        )
    )


def _nowhere(way):
    """An address of the same host, at a port where nothing listens."""
    netid, address = way
    return netid, address.rsplit(".", 2)[0] + ".0.1"


GARBLED = {
    "empty": "",
    "no-port": "127.0.0.1",
    "port-too-large": "127.0.0.1.256.0",
    "text": "localhost.78.81",
    "more-numbers": "127.0.0.1.78.81.1",
}


@case("client.pnfs.address.{name}", requirements=[PATHS], needs=NEEDS, hostile=True, over=ANY)
@pytest.mark.parametrize("name", GARBLED)
def test_garbled(bench, name):
    """The first address of each list is no universal address. The client uses the second, or the metadata
    server."""
    garbled = GARBLED[name]
    script = StripedServer(results=_addressed(lambda ways: [(ways[0][0], garbled), *ways]))
    outcome = use_striped(bench, script)
    expect(outcome, PATHS, must=[kinds.COMPLETED])
    own_uses_data_servers(bench, script, outcome, PATHS, "the second address is used")


@case("client.pnfs.address.dead-first", requirements=[PATHS], needs=NEEDS, over=ANY)
def test_dead_first(bench):
    """Nothing listens at the first address of each list. The client uses the second, or the metadata server."""
    script = StripedServer(results=_addressed(lambda ways: [_nowhere(ways[0]), *ways]))
    outcome = use_striped(bench, script)
    expect(outcome, PATHS, must=[kinds.COMPLETED])
    own_uses_data_servers(bench, script, outcome, PATHS, "the second address is used")


@case("client.pnfs.address.netid-unknown", requirements=[NETIDS], needs=NEEDS, hostile=True)
def test_netid(bench):
    """The first address of each list has a netid that does not exist. It is that of a data server which no list
    has. The client does not connect to it."""
    trap = []

    def change(device):
        trap[:] = device.servers[TRAP]
        device.servers = [[("sctp9", trap[0][1]), *ways] for ways in device.servers[:TRAP]]
        device.indices = list(range(TRAP))

    script = StripedServer(
        results={**bent_device(change), **bent_layout(_set(handles=lambda each: each[:3]))}
    )
    script.needs_rdma = True
    outcome = use_striped(bench, script, servers=TRAP + 1, deviate=["hole-read"])
    what = "connections to an address of an unknown netid"
    expect.equal(script.requests.count(TRAP), 0, NETIDS, what, outcome=outcome)
    expect(outcome, NETIDS, must=[kinds.COMPLETED])
    own_uses_data_servers(bench, script, outcome, NETIDS, "the other address is used")


@case("client.pnfs.address.all-dead", requirements=[ASKED_AGAIN], needs=NEEDS, over=ANY)
def test_all_dead(bench):
    """No address of the device answers at first. The file is copied. The client asks for the device again before it
    uses it again."""

    def change(call, result):
        if len(script.of("GETDEVICEINFO")) == 1:
            return dead["GETDEVICEINFO"](call, result)
        return None

    dead = _addressed(lambda ways: [_nowhere(ways[0])])
    script = StripedServer(results={"GETDEVICEINFO": change})
    outcome = use_striped(bench, script)
    expect(outcome, ASKED_AGAIN, must=[kinds.COMPLETED])
    asked = script.of("GETDEVICEINFO")
    if not asked:
        bench.not_testable("the client asks for no device")
    later = any(call.at > asked[0].at for call in script.layouts)
    if not asked[1:] and not later:
        bench.not_testable("the client gets no further layout, for which it would need the device")
    again = len(asked) > 1
    expect.true(again, ASKED_AGAIN, "the device is asked for again", outcome=outcome)
    if again and later:
        need_io(bench, script)

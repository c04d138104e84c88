"""File layouts (RFC 8881 13): the bodies of layouts and devices, and which data server has an octet."""

import dataclasses
import ipaddress
import struct

from ... import wire

DEVICE_ID_OCTETS = 16
LARGEST_OCTET = 255
# nfl_util4: the flags below the stripe unit.
FLAGS, DENSE, COMMIT_THROUGH_SERVER = 0x3F, 0x01, 0x02


class Body:
    """XDR of the body of a layout type, which steertag.nfs leaves alone."""

    def __init__(self, octets):
        self._octets, self._at = bytes(octets), 0

    def fixed(self, length):
        """Opaque data of this length, with its padding."""
        found = self._octets[self._at : self._at + length]
        if len(found) != length:
            raise wire.DecodeError("the body ends too early")
        self._at += -(-length // 4) * 4
        return found

    def number(self):
        return struct.unpack(">I", self.fixed(4))[0]

    def long_number(self):
        return struct.unpack(">Q", self.fixed(8))[0]

    def opaque(self):
        return self.fixed(self.number())

    def array(self, read):
        """Raises DecodeError where the octets end before the elements."""
        return [read() for _ in range(self.number())]

    def end(self):
        if self._at != len(self._octets):
            raise wire.DecodeError("octets follow the body")


def _number(value):
    return struct.pack(">I", value)


def _opaque(octets):
    return _number(len(octets)) + octets + bytes(-len(octets) % 4)


def _array(elements, encode):
    return _number(len(elements)) + b"".join(encode(each) for each in elements)


@dataclasses.dataclass
class FileLayout:
    """nfsv4_1_file_layout4"""

    device: bytes
    util: int
    first: int
    pattern_offset: int
    handles: list

    def encode(self):
        """The octets of the body."""
        head = struct.pack(">16sIIQ", self.device, self.util, self.first, self.pattern_offset)
        return head + _array(self.handles, _opaque)

    @property
    def unit(self):
        return self.util & ~FLAGS

    @property
    def dense(self):
        return bool(self.util & DENSE)


def read_layout(octets):
    body = Body(octets)
    device, util = body.fixed(DEVICE_ID_OCTETS), body.number()
    made = FileLayout(device, util, body.number(), body.long_number(), body.array(body.opaque))
    body.end()
    return made


@dataclasses.dataclass
class Device:
    """nfsv4_1_file_layout_ds_addr4: stripe indices, and of each server its (netid, address)."""

    indices: list
    servers: list

    def encode(self):
        """The octets of the body."""

        def ways(server):
            return _array(server, lambda way: _opaque(way[0].encode()) + _opaque(way[1].encode()))

        return _array(self.indices, _number) + _array(self.servers, ways)


def read_device(octets):
    body = Body(octets)

    def way():
        return body.opaque().decode(), body.opaque().decode()

    made = Device(body.array(body.number), body.array(lambda: body.array(way)))
    body.end()
    return made


@dataclasses.dataclass
class Part:
    """Octets of a file that are together at one data server."""

    server: int
    handle: bytes
    offset: int  # at the data server
    start: int  # in the file
    length: int


def parts(layout, device, size):
    """The parts of a file of this size, by RFC 8881 13.4. A layout without handles has none."""
    count = len(device.indices)
    made = []
    for start in range(layout.pattern_offset, size, layout.unit):
        stripe_unit = (start - layout.pattern_offset) // layout.unit
        j = (stripe_unit + layout.first) % count
        server = device.indices[j]
        sparse = server if len(layout.handles) > 1 else 0
        handle = layout.handles[j if layout.dense else sparse]
        offset = stripe_unit // count * layout.unit if layout.dense else start
        made.append(Part(server, handle, offset, start, min(layout.unit, size - start)))
    return made


def place_of(address):
    """(host, port) of a universal address (RFC 5665 5.2.3.3, 5.2.3.4). Raises ValueError."""
    host, high, low = address.rsplit(".", 2)
    numbers = int(high), int(low)
    ipaddress.ip_address(host)
    if not all(0 <= each <= LARGEST_OCTET for each in numbers):
        raise ValueError("a port has two octets")
    return host, numbers[0] * 256 + numbers[1]

"""GETDEVICEINFO and GETDEVICELIST, and the form of layouts and devices (RFC 8881 13.3, 18.40, 18.41)."""

import ipaddress

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.file_layout import DEVICE_ID_OCTETS, FLAGS, place_of
from steertag.suite.nfs_client.layout_user import LayoutUser, MOST_DEVICE_OCTETS, READ_LAYOUT
from steertag.suite.nfs_client.nfs4_client import putfh
from .layout_checks import NEEDS, NFS4, user_with_layout

INDEX, USED, UNIT = "RFC8881-13.3-1", "RFC8881-13.3-2", "RFC8881-13.3-3"
SPARSE, SAME_UNIT = "RFC8881-13.3-4", "RFC8881-13.3-6"
ADDRESS, ADDRESS6, PORT = "RFC5665-5.2.3.3-1", "RFC5665-5.2.3.4-1", "RFC8881-3.3.9-1"
INFO, PROBE = "RFC8881-18.40.3-1", "RFC8881-18.40.3-2"
LIST, NOTIFY = "RFC8881-18.41.3-1", "RFC8881-12.2.10-2"
NOENT, TOOSMALL = ["nfs:NFS4ERR_NOENT"], ["nfs:NFS4ERR_TOOSMALL"]
LEAST_UNIT = FLAGS + 1
IPV4, IPV6 = ("rdma", "tcp"), ("rdma6", "tcp6")
UNKNOWN = b"\xa5" * DEVICE_ID_OCTETS
NO_VERIFIER = b"\xa5" * 8
MOST_PIECES = 256  # of a list of devices that a case reads
# notify_deviceid_type4
NOTIFICATIONS = {"none": [], "change": [1], "both": [1, 2]}


@case("server.pnfs.device.indices", requirements=[INDEX, USED], needs=NEEDS, over=ANY)
def test_indices(bench):
    """Stripe indices are below the number of multipath lists, and each list is named by one."""
    device = _with_device(bench)
    count = len(device.servers)
    expect.at_least(len(device.indices), 1, INDEX, "stripe indices")
    expect.at_most(max(device.indices), count - 1, INDEX, "largest stripe index")
    expect.equal(sorted(set(device.indices)), list(range(count)), USED, "lists that are used")


def _with_device(bench):
    return user_with_layout(bench).device


@case("server.pnfs.device.addresses", requirements=[ADDRESS, PORT], needs=NEEDS)
def test_addresses(bench):
    """Each data server has addresses. Those of netids rdma, rdma6, tcp and tcp6 end in the two octets of a port, and
    those of IPv4 are universal addresses."""
    for ways in _with_device(bench).servers:
        expect.at_least(len(ways), 1, PORT, "addresses of a data server")
        for netid, address in ways:
            if netid in IPV4 + IPV6:
                expect.true(_has_port(address), PORT, f"{netid} address {address} has a port")
            if netid in IPV4:
                good = _is_universal(address, 4)
                expect.true(good, ADDRESS, f"{netid} address {address} is universal")


@case("server.pnfs.device.addresses-ipv6", requirements=[ADDRESS6], needs=NEEDS)
def test_ipv6_addresses(bench):
    """The addresses of netids rdma6 and tcp6 are universal addresses of IPv6."""
    ways = [way for server in _with_device(bench).servers for way in server if way[0] in IPV6]
    if not ways:
        remedy = "a server that listens at an IPv6 address: --server-arg=--listen=iwarp://[::1]:0"
        bench.not_testable("the data servers have no address of IPv6", remedy)
    for netid, address in ways:
        good = _is_universal(address, 6)
        expect.true(good, ADDRESS6, f"{netid} address {address} is universal")


def _has_port(address):
    """Whether it ends in two decimal octets, which are a port."""
    octets = address.split(".")[-2:]
    return len(octets) == 2 and all(each.isdecimal() and int(each) <= 255 for each in octets)


def _is_universal(address, version):
    try:
        host, port = place_of(address)
    except ValueError:
        return False
    return ipaddress.ip_address(host).version == version and port > 0


@case("server.pnfs.layout.unit", requirements=[UNIT, SAME_UNIT], needs=NEEDS, over=ANY)
def test_unit(bench):
    """The stripe unit has at least 64 octets. Layouts for reading and for writing have the same one."""
    user = LayoutUser(bench)
    units = []
    for fields in ({}, {"loga_iomode": READ_LAYOUT}):
        user.take(user.layout_get(**fields))
        units.append(user.layout.unit)
        expect.at_least(user.layout.unit, LEAST_UNIT, UNIT, "octets of the stripe unit")
    expect.equal(units[1], units[0], SAME_UNIT, "stripe unit of the layout for reading")


@case(
    "server.pnfs.layout.handles",
    requirements=[SPARSE],
    needs=NEEDS,
    over=ANY,
)
def test_handles(bench):
    """With sparse packing a layout has no filehandle, one, or one for each multipath list."""
    user = user_with_layout(bench)
    count, servers = len(user.layout.handles), len(user.device.servers)
    if user.layout.dense:
        bench.not_testable("the packing is dense")
    expect.one_of(count, [0, 1, servers], SPARSE, "filehandles of a layout")


@case("server.pnfs.device.mincount", requirements=[INFO], needs=NEEDS, over=ANY)
def test_mincount(bench):
    """GETDEVICEINFO with a gdia_maxcount of 1. gdir_mincount of the refusal is enough."""
    user = user_with_layout(bench)
    outcome = expect(user.device_info(gdia_maxcount=1), INFO, must=TOOSMALL)
    least = outcome.result["GETDEVICEINFO"].gdir_mincount
    expect.at_most(least, MOST_DEVICE_OCTETS, INFO, "gdir_mincount", outcome=outcome)
    expect(user.device_info(gdia_maxcount=least), INFO, must=[kinds.REPLY])


@case("server.pnfs.device.unknown", requirements=[INFO], needs=NEEDS, over=ANY, hostile=True)
def test_unknown(bench):
    """GETDEVICEINFO of a device ID that the server never gave."""
    user = user_with_layout(bench)
    expect(user.device_info(gdia_device_id=UNKNOWN), INFO, must=NOENT)


@case("server.pnfs.device.other-client", requirements=[INFO], needs=NEEDS, over=ANY, hostile=True)
def test_other_client(bench):
    """GETDEVICEINFO of the device of another client's layout, before a layout of one's own. A reply is right if the
    client's own layout names that device too."""
    user, other = user_with_layout(bench), LayoutUser(bench)
    other.layout = user.layout
    outcome = expect(other.device_info(), INFO, must=[*NOENT, kinds.REPLY])
    if outcome.kind == kinds.REPLY:
        other.take(other.layout_get())
        shared = other.layout.device == user.layout.device
        expect.true(shared, INFO, "the device is one of both clients", outcome=outcome)


@case(
    "server.pnfs.device.unknown-maxcount-zero",
    requirements=[PROBE],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
def test_unknown_maxcount_zero(bench):
    """GETDEVICEINFO with a gdia_maxcount of 0, of a device ID that the server never gave."""
    asked = {"gdia_device_id": UNKNOWN, "gdia_maxcount": 0}
    expect(user_with_layout(bench).device_info(**asked), PROBE, must=NOENT)


@case("server.pnfs.device.maxcount-zero", requirements=[PROBE], needs=NEEDS, over=ANY)
def test_maxcount_zero(bench):
    """GETDEVICEINFO with a gdia_maxcount of 0 succeeds, and has no address."""
    outcome = expect(user_with_layout(bench).device_info(gdia_maxcount=0), PROBE, must=["reply"])
    body = outcome.result["GETDEVICEINFO"].resok4.gdir_device_addr.da_addr_body
    expect.equal(len(body), 0, PROBE, "octets of da_addr_body", outcome=outcome)


@case("server.pnfs.device.notification-{name}", requirements=[NOTIFY], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", NOTIFICATIONS)
def test_notification(bench, name):
    """GETDEVICEINFO that asks for notifications. The reply promises no other ones."""
    asked = NOTIFICATIONS[name]
    types = NFS4.bitmap(*asked)
    outcome = user_with_layout(bench).device_info(gdia_notify_types=types)
    expect(outcome, NOTIFY, must=[kinds.REPLY])
    promised = _numbers(outcome.result["GETDEVICEINFO"].resok4.gdir_notification)
    more = sorted(set(promised) - set(asked))
    expect.equal(more, [], NOTIFY, "notifications beyond those asked for", outcome=outcome)


@case("server.pnfs.device.notification-supported", requirements=[NOTIFY], needs=NEEDS, over=ANY)
def test_notification_supported(bench):
    """GETDEVICEINFO that asks for all notifications. The reply promises one of them at least: 12.2.10 has a MUST. 18.40.3
    leaves it to the server, so that a third party may have none."""
    types = NFS4.bitmap(*NOTIFICATIONS["both"])
    outcome = user_with_layout(bench).device_info(gdia_notify_types=types)
    expect(outcome, NOTIFY, must=[kinds.REPLY])
    promised = _numbers(outcome.result["GETDEVICEINFO"].resok4.gdir_notification)
    if not promised and not bench.target.bundled:
        return bench.latitude(NOTIFY, "the server has no notifications of devices")
    expect.at_least(len(promised), 1, NOTIFY, "notifications that are promised", outcome=outcome)


def _numbers(words):
    return [32 * at + bit for at, word in enumerate(words) for bit in range(32) if word >> bit & 1]


@case("server.pnfs.devicelist.zero", requirements=[LIST], needs=NEEDS, over=ANY, hostile=True)
def test_list_zero(bench):
    """GETDEVICELIST with gdla_maxdevices 0. A server may lack the operation."""
    outcome = _list_devices(bench, user_with_layout(bench), gdla_maxdevices=0)
    expect(outcome, LIST, must=["nfs:NFS4ERR_INVAL"])


def _list_devices(bench, user, **fields):
    """The Outcome of GETDEVICELIST. Ends the case if the target lacks it."""
    asked = operation("GETDEVICELIST", **fields)
    outcome = user.session.exchange(putfh(user.handle), asked)
    if outcome.kind == "nfs:NFS4ERR_NOTSUPP":
        bench.unsupported("the target answers GETDEVICELIST with nfs:NFS4ERR_NOTSUPP")
    return outcome


@case("server.pnfs.devicelist.pieces", requirements=[LIST], needs=NEEDS, over=ANY)
def test_list_pieces(bench):
    """GETDEVICELIST with gdla_maxdevices 1, until gdlr_eof. The first one has a verifier, which is ignored with
    gdla_cookie 0. The list has the device of the client's layout. A server may lack the operation.
    """
    user = user_with_layout(bench)
    cookie, verifier, devices = 0, NO_VERIFIER, []
    for _ in range(MOST_PIECES):
        where = {"gdla_cookie": cookie, "gdla_cookieverf": verifier}
        outcome = _list_devices(bench, user, gdla_maxdevices=1, **where)
        piece = expect(outcome, LIST, must=[kinds.REPLY]).result["GETDEVICELIST"].resok4
        count = len(piece.gdlr_deviceid_list)
        expect.at_most(count, 1, LIST, "device IDs of a piece", outcome=outcome)
        devices += [bytes(each) for each in piece.gdlr_deviceid_list]
        if piece.gdlr_eof:
            break
        moved = piece.gdlr_cookie != cookie
        expect.true(moved, LIST, "gdlr_cookie goes on without gdlr_eof", outcome=outcome)
        cookie, verifier = piece.gdlr_cookie, piece.gdlr_cookieverf
    else:
        bench.not_testable(f"the target has more than {MOST_PIECES} devices")
    listed = bytes(user.layout.device) in devices
    expect.true(listed, LIST, "the list has the device of the layout", outcome=outcome)

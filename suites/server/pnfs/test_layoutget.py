"""LAYOUTGET: types, iomodes, ranges, sizes and stateids (RFC 8881 12.5.2, 12.5.3, 18.43)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.layout_user import ALL, ANY_LAYOUT, FILES, LayoutUser
from steertag.suite.nfs_client.layout_user import READ_LAYOUT, RW_LAYOUT
from steertag.suite.nfs_client.nfs4_client import ANONYMOUS
from .layout_checks import BAD_STATEID, NEEDS, NFS4, user_with_layout

FILE_TYPE, SAME_TYPE, ERRORS = "RFC8881-3.3.13-1", "RFC8881-12.2.7-1", "RFC8881-18.43.3-4"
WISH, RANGE, ELEMENTS = "RFC8881-18.43.3-1", "RFC8881-18.43.3-2", "RFC8881-18.43.3-3"
RIGHT, FIRST, SEQUENCE = "RFC8881-12.5.2-2", "RFC8881-12.5.2-3", "RFC8881-12.5.3-1"
PART = "RFC8881-18.44.3-4"
GONE, SEQID_ZERO = "RFC8881-12.5.3-5", "RFC8881-12.5.5.2.1.4-3"
UNKNOWN_TYPES = {"zero": 0, "private": 0x80000001}
SMALL = 4096
# (loga_iomode, loga_offset, loga_length, loga_minlength) as of RFC 8881 table 22.
RANGES = {
    "whole": (RW_LAYOUT, 0, ALL, 0),
    "whole-at-least-one": (RW_LAYOUT, 0, ALL, 1),
    "beginning": (RW_LAYOUT, 0, SMALL, SMALL),
    "middle": (RW_LAYOUT, SMALL, SMALL, 1),
    "nothing-needed": (RW_LAYOUT, SMALL, SMALL, 0),
    "to-the-end": (RW_LAYOUT, SMALL, ALL, SMALL),
    "all-needed": (RW_LAYOUT, 0, ALL, ALL),
    "all-needed-behind": (RW_LAYOUT, SMALL, ALL, ALL),
    "read-beginning": (READ_LAYOUT, 0, SMALL, SMALL),
    "read-middle": (READ_LAYOUT, SMALL, SMALL, 1),
    "read-nothing-needed": (READ_LAYOUT, SMALL, SMALL, 0),
    "read-beyond-end": (READ_LAYOUT, 0, ALL, 3 * SMALL),
    "read-all-needed": (READ_LAYOUT, 0, ALL, ALL),
    "read-all-needed-behind": (READ_LAYOUT, SMALL, ALL, ALL),
}
FILE_OCTETS = 2 * SMALL
# RFC 8881 18.43.3, behind the table.
UNABLE = {"nfs:NFS4ERR_BADLAYOUT": "the target cannot return what loga_minlength asks for"}
LATER = {"nfs:NFS4ERR_LAYOUTTRYLATER": "no layout is readily available"}
INVALID = {
    "length-below-minimum": (0, SMALL, SMALL + 1),
    "length-beyond-end": (SMALL, ALL - 1, 0),
    "minimum-beyond-end": (2 * SMALL, ALL, ALL - SMALL),
}


@case("server.pnfs.layoutget.type", requirements=[SAME_TYPE], needs=NEEDS, over=ANY)
def test_type(bench):
    """The layout and the device address have the layout type that was asked for."""
    user = LayoutUser(bench)
    got = user.take(user.layout_get())
    for layout in got.logr_layout:
        expect.equal(int(layout.lo_content.loc_type), int(FILES), SAME_TYPE, "loc_type")
    outcome = expect(user.device_info(), SAME_TYPE, must=[kinds.REPLY])
    address = outcome.result["GETDEVICEINFO"].resok4.gdir_device_addr
    expect.equal(int(address.da_layout_type), int(FILES), SAME_TYPE, "da_layout_type")


@case(
    "server.pnfs.layoutget.type-{name}",
    requirements=[ERRORS, FILE_TYPE],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", UNKNOWN_TYPES)
def test_unknown_type(bench, name):
    """LAYOUTGET of a layout type that is none of the file's."""
    outcome = LayoutUser(bench).layout_get(loga_layout_type=UNKNOWN_TYPES[name])
    requirement_id = FILE_TYPE if name == "private" else ERRORS
    refused = ["nfs:NFS4ERR_UNKNOWN_LAYOUTTYPE"]
    no_value = {"nfs:NFS4ERR_BADXDR": "no value of the enum"}
    expect(outcome, requirement_id, must=refused, latitude=no_value)


@case(
    "server.pnfs.layoutget.iomode-any",
    requirements=[ERRORS],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
def test_iomode_any(bench):
    """LAYOUTGET with LAYOUTIOMODE4_ANY, which only LAYOUTRETURN and CB_LAYOUTRECALL may have."""
    outcome = LayoutUser(bench).layout_get(loga_iomode=ANY_LAYOUT)
    expect(outcome, ERRORS, must=["nfs:NFS4ERR_BADIOMODE"])


@case("server.pnfs.layoutget.too-small", requirements=[ERRORS], needs=NEEDS, over=ANY)
def test_too_small(bench):
    """LAYOUTGET with a loga_maxcount in which no layout fits."""
    outcome = LayoutUser(bench).layout_get(loga_maxcount=8)
    expect(outcome, ERRORS, must=["nfs:NFS4ERR_TOOSMALL"])


@case("server.pnfs.layoutget.{name}", requirements=[WISH], needs=NEEDS, over=ANY, hostile=True)
@pytest.mark.parametrize("name", INVALID)
def test_invalid(bench, name):
    """LAYOUTGET with loga_length below loga_minlength, or with a sum above 2^64-1."""
    offset, length, least = INVALID[name]
    fields = {"loga_offset": offset, "loga_length": length, "loga_minlength": least}
    expect(LayoutUser(bench).layout_get(**fields), WISH, must=["nfs:NFS4ERR_INVAL"])


@case("server.pnfs.layoutget.range-{name}", requirements=[RANGE, ELEMENTS], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", RANGES)
def test_range(bench, name):
    """LAYOUTGET of a range. The layouts begin at loga_offset or below it, reach as far as
    loga_minlength, and lie side by side. They are at least as permissive as what was asked for."""
    iomode, offset, length, least = RANGES[name]
    file = bench.name("file")
    bench.file(bytes(FILE_OCTETS), file)
    user = LayoutUser(bench, name=file)
    fields = {"loga_offset": offset, "loga_length": length, "loga_minlength": least}
    outcome = user.layout_get(loga_iomode=iomode, **fields)
    unable = LATER if least == 0 else UNABLE
    if expect(outcome, RANGE, must=[kinds.REPLY], latitude=unable).kind != kinds.REPLY:
        return
    layouts = user.take(outcome).logr_layout
    first = layouts[0]
    permitted = [READ_LAYOUT, RW_LAYOUT] if iomode == READ_LAYOUT else [RW_LAYOUT]
    expect.one_of(first.lo_iomode, permitted, ELEMENTS, "lo_iomode of the first layout")
    expect.at_most(first.lo_offset, offset, RANGE, "lo_offset")
    end = first.lo_offset
    for layout in layouts:
        expect.equal(layout.lo_offset, end, ELEMENTS, "lo_offset behind the layout before")
        expect.equal(layout.lo_iomode, first.lo_iomode, ELEMENTS, "lo_iomode")
        end = ALL if layout.lo_length == ALL else layout.lo_offset + layout.lo_length
    needed = _end(first.lo_iomode, offset, least) or first.lo_offset + 1
    expect.at_least(end, needed, RANGE, "end of the layouts")


def _end(iomode, offset, least):
    """Where layouts of this iomode may end, by table 22. None: anywhere."""
    if least == 0:
        return None
    end = ALL if least == ALL else offset + least
    return min(end, FILE_OCTETS) if iomode == READ_LAYOUT else end


@case("server.pnfs.layoutget.seqid", requirements=[FIRST, SEQUENCE, PART], needs=NEEDS, over=ANY)
def test_seqid(bench):
    """The first LAYOUTGET of a file gives a stateid of seqid 1. Each further one, and a LAYOUTRETURN
    of a part, adds one, and leaves `other` as it is."""
    user = LayoutUser(bench)
    first = user.take(user.layout_get()).logr_stateid
    expect.equal(first.seqid, 1, FIRST, "seqid of the first layout stateid")
    for number, iomode in ((2, READ_LAYOUT), (3, RW_LAYOUT)):
        got = user.take(user.layout_get(loga_iomode=iomode)).logr_stateid
        expect.equal(got.seqid, number, SEQUENCE, "seqid of LAYOUTGET")
        expect.equal(bytes(got.other), bytes(first.other), SEQUENCE, "other of the stateid")
    outcome = expect(user.layout_return(lora_iomode=READ_LAYOUT), SEQUENCE, must=[kinds.REPLY])
    left = outcome.result["LAYOUTRETURN"].resok4
    expect.true(left.lrs_present, PART, "the layout for writing is left", outcome=outcome)
    expect.equal(left.lrs_stateid.seqid, 4, SEQUENCE, "seqid of LAYOUTRETURN", outcome=outcome)


@case("server.pnfs.layoutget.seqid-failed", requirements=[SEQUENCE], needs=NEEDS, over=ANY)
def test_seqid_failed(bench):
    """A LAYOUTGET and a LAYOUTRETURN that fail do not count: the next LAYOUTGET has the next seqid."""
    user = LayoutUser(bench)
    first = user.take(user.layout_get()).logr_stateid
    expect(user.layout_get(loga_maxcount=8), SEQUENCE, must=["nfs:NFS4ERR_TOOSMALL"])
    strange = NFS4.StateId(seqid=1, other=b"no stateid  ")
    expect(user.layout_return(strange), SEQUENCE, must=["nfs:NFS4ERR_BAD_STATEID"])
    got = user.take(user.layout_get()).logr_stateid
    expect.equal(got.seqid, first.seqid + 1, SEQUENCE, "seqid behind operations that failed")


@case(
    "server.pnfs.layoutget.stateid-{name}",
    requirements=[RIGHT],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", ["zeros", "ones", "other-file", "other-client"])
def test_stateid(bench, name):
    """LAYOUTGET with a special stateid, that of another file, or that of another client."""
    user = LayoutUser(bench)
    stateid = NFS4.StateId(**ANONYMOUS)
    if name == "ones":
        stateid = NFS4.StateId(seqid=0xFFFFFFFF, other=b"\xff" * 12)
    elif name == "other-file":
        directory = bench.nfs4_files(user.session).directory
        other = bench.name("other")
        bench.file(b"", other)
        opened, _ = user.session.open(directory, other, NFS4.OPEN4_SHARE_ACCESS_BOTH)
        stateid = opened.stateid
    elif name == "other-client":
        stateid = LayoutUser(bench, name=user.name).stateid
    expect(user.layout_get(loga_stateid=stateid), RIGHT, must=BAD_STATEID)


@case("server.pnfs.layoutget.returned", requirements=[GONE], needs=NEEDS, over=ANY, hostile=True)
def test_returned(bench):
    """LAYOUTGET, LAYOUTRETURN and LAYOUTCOMMIT with the stateid of layouts that were all returned. For LAYOUTCOMMIT
    RFC 8881 18.42.3 has NFS4ERR_BADLAYOUT too."""
    user = user_with_layout(bench)
    expect(user.layout_return(), GONE, must=[kinds.REPLY])
    expect(user.layout_get(), GONE, must=BAD_STATEID)
    expect(user.layout_return(), GONE, must=BAD_STATEID)
    expect(user.layout_commit(0), GONE, must=[*BAD_STATEID, "nfs:NFS4ERR_BADLAYOUT"])


@case(
    "server.pnfs.layoutget.seqid-zero.{name}",
    requirements=[SEQID_ZERO],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", ["layoutget", "layoutcommit", "layoutreturn"])
def test_seqid_zero(bench, name):
    """An operation with a layout stateid of seqid 0, which is never the current one of layouts."""
    user = user_with_layout(bench)
    zero = NFS4.StateId(seqid=0, other=user.layout_stateid.other)
    outcome = {
        "layoutget": lambda: user.layout_get(loga_stateid=zero),
        "layoutcommit": lambda: user.layout_commit(loca_stateid=zero),
        "layoutreturn": lambda: user.layout_return(stateid=zero),
    }[name]()
    expect(outcome, SEQID_ZERO, must=BAD_STATEID)

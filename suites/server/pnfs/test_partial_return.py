"""LAYOUTRETURN of a part of the layouts of a file: what data servers do inside and beside it (RFC 8881 18.44.3)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.layout_user import ANY_LAYOUT, LayoutUser, READ_LAYOUT, RW_LAYOUT
from .layout_checks import FENCED, NEEDS, user_with_layout, written

PART, WITHOUT = "RFC8881-18.44.3-4", "RFC8881-12.5.1-3"
IOMODES = {"read": READ_LAYOUT, "write": RW_LAYOUT}


def _attempt(user, io, part, content):
    return user.read_part(part) if io == "read" else user.write_part(part, content)


def _expect_left(user, outcome):
    """LAYOUTRETURN has succeeded, and something is left."""
    left = expect(outcome, PART, must=[kinds.REPLY]).result["LAYOUTRETURN"].resok4
    expect.true(left.lrs_present, PART, "lrs_present is TRUE", outcome=outcome)
    user.layout_stateid = left.lrs_stateid


@case(
    "server.pnfs.fencing.unit-{io}",
    requirements=[PART, WITHOUT],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("io", ["read", "write"])
def test_unit(bench, io):
    """LAYOUTRETURN of the first stripe unit of a file. I/O in the others is served, and I/O in that unit should be refused.
    RFC 8881 13.6 and 13.11 speak of whole files, and 12.5.1 of ranges."""
    user = user_with_layout(bench)
    content = written(bench, user, PART)
    first, *others = user.parts()
    scope = {
        "lrf_offset": first.start,
        "lrf_length": first.length,
        "lrf_stateid": user.layout_stateid,
    }
    back = {"lora_iomode": ANY_LAYOUT, "lora_layoutreturn": {"lr_layout": scope}}
    _expect_left(user, user.layout_return(**back))
    for part in others:
        expect(_attempt(user, io, part, content), PART, must=[kinds.REPLY])
    expect(_attempt(user, io, first, content), WITHOUT, should=FENCED)


@case("server.pnfs.fencing.left-for-{left}", requirements=[PART], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("left", IOMODES)
def test_iomode(bench, left):
    """A client has a layout for reading and one for writing, and returns one of them. It may do what the other one is
    for. Data servers need not look at iomodes (RFC 8881 13.8)."""
    user = LayoutUser(bench)
    user.use_layout()
    content = written(bench, user, PART)
    user.take(user.layout_get(loga_iomode=READ_LAYOUT))
    returned = RW_LAYOUT if left == "read" else READ_LAYOUT
    _expect_left(user, user.layout_return(lora_iomode=returned))
    for part in user.parts():
        expect(_attempt(user, left, part, content), PART, must=[kinds.REPLY])

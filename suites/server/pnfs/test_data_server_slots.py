"""Slots of sessions at data servers, and the credits of their connections (RFC 8881 2.10.7, 18.36)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.layout_user import DS
from steertag.suite.nfs_client.nfs4_client import fore_channel, putfh, read
from .data_server_roles import register
from .layout_checks import NEEDS, user_with_layout, written

GRANTED, UNEQUAL, LESSER = "RFC8881-18.36.3-1", "RFC8267-6.6-2", "RFC8881-2.10.7.1-1"
# (slots, credits) that the client asks for.
CHANNELS = {"more-slots": (16, 4), "more-credits": (2, 32)}
MOST_TRIED = 64  # slots and requests of a case
OCTETS = 64  # of a READ: the least stripe unit


def _session(bench, user, part, requirement_id, slots, **settings):
    """A new session of the user's client at the data server of a part."""
    ways = user.device.servers[part.server]
    client = bench.data_server_client(user.client, ways, **settings)
    register(client, requirement_id, DS)
    attrs = fore_channel(ca_maxrequests=slots)
    expect(client.create_session(csa_fore_chan_attrs=attrs), requirement_id, must=[kinds.REPLY])
    return client.sessions[0]


def _read_call(user, session, part, slot):
    """The READ number `slot` of a part: a few octets, at another offset each."""
    offset = part.offset + slot % (part.length - OCTETS + 1)
    call = session.call(putfh(part.handle), read(OCTETS, offset, user.for_io), slot=slot)
    session.conn.carry_result(call, OCTETS)
    return call


def _read_at_once(user, session, part, slots, content, requirement_id, of_octets=None):
    """READs in all these slots are under way together, and each has its octets."""
    calls = [_read_call(user, session, part, slot) for slot in slots]
    outcomes = session.conn.collect(calls)
    for slot, call in zip(slots, calls):
        outcome = expect(outcomes[call.xid], requirement_id, must=[kinds.REPLY])
        start = part.start + slot % (part.length - OCTETS + 1)
        found = outcome.result["READ"].resok4.data
        wanted = content[start : start + OCTETS]
        what = "octets of one of several READs"
        expect.data(found, wanted, of_octets or requirement_id, what, outcome=outcome)


@case("server.pnfs.slots.{name}", requirements=[UNEQUAL, LESSER], needs=NEEDS)
@pytest.mark.parametrize("name", CHANNELS)
def test_slots_and_credits(bench, name):
    """A session at a data server with more slots than the connection has credits, and with fewer. As many READs as both
    allow are answered at once, in the last slots."""
    asked, credits = CHANNELS[name]
    user = user_with_layout(bench)
    content = written(bench, user, UNEQUAL)
    part = user.parts()[0]
    session = _session(bench, user, part, UNEQUAL, asked, credits=credits)
    # The reply has the grant of credits.
    expect(session.exchange(), UNEQUAL, must=[kinds.REPLY])
    count = min(session.conn.window, session.slots, MOST_TRIED)
    slots = range(session.slots - count, session.slots)
    _read_at_once(user, session, part, slots, content, UNEQUAL, LESSER)


@case("server.pnfs.slots.granted", requirements=[GRANTED], needs=NEEDS, over=ANY)
def test_granted(bench):
    """A READ at a data server in each slot that its session was granted. As many as the connection takes are under way
    at once."""
    user = user_with_layout(bench)
    content = written(bench, user, GRANTED)
    part = user.parts()[0]
    session = _session(bench, user, part, GRANTED, MOST_TRIED)
    expect(session.exchange(), GRANTED, must=[kinds.REPLY])
    slots = range(min(session.slots, MOST_TRIED))
    window = session.conn.window
    for first in range(0, len(slots), window):
        _read_at_once(user, session, part, slots[first : first + window], content, GRANTED)

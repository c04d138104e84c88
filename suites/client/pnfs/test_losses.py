"""Data servers that die, refuse, or have no octets, and layouts that are lost (RFC 8881 12.7, 13.10, 13.11)."""

import pytest

from steertag.suite import ANY, case, client_kinds as kinds, expect
from ..restarted_server import RestartedServer
from .striped_server import (
    copied_by_data_servers,
    failed,
    NEEDS,
    StripedServer,
    UNIT,
    use_striped,
)

LOST, REFUSED, HOLES = "RFC8881-12.7.6-1", "RFC8881-13.11-2", "RFC8881-13.10-1"
REVOKED, RESTARTED, DEVICES = "RFC8881-12.7.2-2", "RFC8881-12.7.4-1", "RFC8881-12.2.10-3"
# The data server that is lost.
VICTIM = 1
# Its READs or WRITEs before that.
BEFORE = 2


class Dying(StripedServer):
    """A data server that dies at the second of its replies with this operation; without one, before its first
    connection."""

    def __init__(self, name=None):
        super().__init__()
        self.needs_rdma = True
        self._name, self._seen = name, 0
        self.died_at = None
        if name is None:
            self.refused.add(VICTIM)
            self.died_at = 0

    def post(self, reply):
        if self.died_at is not None or reply.conn.server != VICTIM:
            return False
        found = [call for call in self.calls if (call.conn, call.xid) == (reply.conn, reply.xid)]
        is_kind = bool(found) and self._name in found[-1]
        self._seen += is_kind
        if not is_kind or self._seen < (1 if self._name == "COMMIT" else BEFORE):
            return False
        self.died_at = self._tick()
        self.kill(VICTIM)
        return True


DEATHS = {"connecting": None, "reading": "READ", "writing": "WRITE", "committing": "COMMIT"}


@case("client.pnfs.dead.{name}", requirements=[LOST], needs=NEEDS)
@pytest.mark.parametrize("name", DEATHS)
def test_dead(bench, name):
    """A data server dies, or is dead from the start. Its part of the file goes by the metadata server. What it has got
    is written there with FILE_SYNC4."""
    script = Dying(DEATHS[name])
    outcome = use_striped(bench, script)
    expect(outcome, LOST, must=[kinds.COMPLETED])
    if script.died_at is None or not script.data_io and not script.requests:
        bench.not_testable("the client does not use that data server")
    for call in script.of("WRITE"):
        if call.at > script.died_at and _had(script, call["WRITE"]):
            what = "WRITEs at the metadata server of what the lost data server had are FILE_SYNC4"
            expect.equal(call["WRITE"].stable.name, "FILE_SYNC4", LOST, what, outcome=outcome)


def _had(script, again):
    """Whether the data server that is lost has got a WRITE of some of these octets."""
    sent = [call["WRITE"] for call in script.at_data_servers("WRITE") if call.server == VICTIM]
    return any(
        one.offset < again.offset + len(again.data) and again.offset < one.offset + len(one.data)
        for one in sent
    )


ERRORS = [
    "NFS4ERR_BAD_STATEID",
    "NFS4ERR_PNFS_NO_LAYOUT",
    "NFS4ERR_PNFS_IO_HOLE",
    "NFS4ERR_STALE",
    "NFS4ERR_BADHANDLE",
    "NFS4ERR_ACCESS",
    "NFS4ERR_IO",
    "NFS4ERR_NOTSUPP",
    "NFS4ERR_SERVERFAULT",
]


def _word(status):
    return status.removeprefix("NFS4ERR_").lower().replace("_", "-")


@case(
    "client.pnfs.refused.{io}-{error}", requirements=[REFUSED], needs=NEEDS, hostile=True, over=ANY
)
@pytest.mark.parametrize("io", ["read", "write"])
@pytest.mark.parametrize("error", [_word(each) for each in ERRORS])
def test_refused(bench, io, error):
    """A data server refuses every READ, or every WRITE, that the layout allows. The file is copied by the metadata
    server."""
    status = next(each for each in ERRORS if _word(each) == error)
    name = io.upper()
    bend = failed(name, status)[name]

    def refuse(call, result):
        return bend(call, result) if call.server == VICTIM else None

    script = StripedServer(elsewhere={name: refuse})
    outcome = use_striped(bench, script)
    expect(outcome, REFUSED, must=[kinds.COMPLETED])
    if not any(call.server == VICTIM and name in call for call in script.calls):
        bench.not_testable("the client does not use that data server")


@case("client.pnfs.refused.commit", requirements=[REFUSED], needs=NEEDS, hostile=True, over=ANY)
def test_refused_commit(bench):
    """A data server refuses COMMIT. What it has is written again elsewhere."""
    script = StripedServer(elsewhere=failed("COMMIT", "NFS4ERR_IO"))
    outcome = use_striped(bench, script)
    expect(outcome, REFUSED, must=[kinds.COMPLETED])
    if not script.at_data_servers("COMMIT"):
        bench.not_testable("the client sends no COMMIT to data servers")


# -- octets -------------------------------------------------------------------------------------------------------


@case(
    "client.pnfs.read.short",
    requirements=[HOLES],
    needs=NEEDS,
    over=ANY,
    unfailed={"client.pnfs.read.short": "No READ says that the file ends."},
)
def test_short(bench):
    """Data servers give half of what READ asks for, and do not say that the file ends. The client asks for the
    rest."""

    def halve(_call, args):
        args.count = max(1, args.count // 2)
        return True

    script = StripedServer(arguments={"READ": halve})
    outcome = use_striped(bench, script)
    copied_by_data_servers(bench, script, outcome, HOLES)


class Hollow(StripedServer):
    """Octets 8192 to 16383 of the source are zeros that the data server does not have. Its READs see the end of the
    file there."""

    HOLE = range(8192, 2 * 8192)

    def __init__(self):
        super().__init__(arguments={"READ": self._look_beyond})
        self.seen = 0

    def source(self, octets):
        first, end = self.HOLE.start, self.HOLE.stop
        return octets[:first] + bytes(end - first) + octets[end:]

    def _look_beyond(self, _call, args):
        if args.offset not in self.HOLE:
            return False
        self.seen += 1
        args.offset = 1 << 40
        return True


@case("client.pnfs.read.hole", requirements=[HOLES], needs=NEEDS, over=ANY)
def test_hole(bench):
    """A data server says that the file ends in the middle, where nothing was ever written. The client reads
    zeros, and what follows."""
    script = Hollow()
    outcome = use_striped(bench, script, deviate=["hole-read"])
    copied_by_data_servers(bench, script, outcome, HOLES)
    if not script.seen:
        bench.not_testable("the client reads the hole elsewhere")


# -- lost layouts -------------------------------------------------------------------------------------------------

# SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED, SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED, SEQ4_STATUS_ADMIN_STATE_REVOKED
FLAGS = {
    "all-expired": 0x8,
    "some-expired": 0x10,
    "by-administrator": 0x20,
}


@case("client.pnfs.revoked.{name}", requirements=[REVOKED], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", FLAGS)
def test_revoked(bench, name):
    """SEQUENCE says that state was revoked, in the reply to the first GETDEVICEINFO: the layout before it is of no use
    any more."""
    flags = FLAGS[name]
    revoked = []

    def tell(call, result):
        if "GETDEVICEINFO" in call and not revoked and int(result.status) == 0:
            revoked.append(call)
            result.resok4.sr_status_flags |= flags
            return result
        return None

    script = StripedServer(results={"SEQUENCE": tell})
    outcome = use_striped(bench, script)
    expect(outcome, REVOKED, must=[kinds.COMPLETED])
    if not revoked:
        bench.not_testable("the client asks for no device")
    late = _before_next_layout(script, revoked[0].at)
    what = "READs and WRITEs by a layout that was revoked"
    expect.equal(len(late), 0, REVOKED, what, outcome=outcome)


def _before_next_layout(script, at):
    """READs and WRITEs at data servers from then on, up to the next layout."""
    end = min((call.at for call in script.layouts if call.at > at), default=1 << 62)
    return [call for call in script.data_io if at < call.at < end]


class Restarted(RestartedServer):
    """A metadata server that seems to restart at the first READ that it gets. Layouts are without the first octets
    of the file, so that there is one before all others.
    """

    def __init__(self):
        super().__init__({"LAYOUTGET": self._grant_end})

    def begins(self, call):
        return bool(self.layouts) and super().begins(call)

    @staticmethod
    def _grant_end(_call, result):
        for each in result.resok4.logr_layout if int(result.status) == 0 else []:
            each.lo_offset = 6 * UNIT
        return result


def _restarted(bench, requirement_id):
    """(script, outcome) of a client that comes back as another one."""
    script = Restarted()
    outcome = use_striped(bench, script, own=["--in-flight", "1"])
    expect(outcome, requirement_id, must=[kinds.COMPLETED])
    if script.known_at is None:
        bench.not_testable("the client does not come back as another client")
    return script, outcome


@case("client.pnfs.restart.layouts", requirements=[RESTARTED], needs=NEEDS, over=ANY)
def test_restart(bench):
    """The metadata server has restarted while the client had a layout. The layout is of no use any more."""
    script, outcome = _restarted(bench, RESTARTED)
    late = _before_next_layout(script, script.known_at)
    what = "READs and WRITEs by a layout from before the restart"
    expect.equal(len(late), 0, RESTARTED, what, outcome=outcome)


@case("client.pnfs.restart.devices", requirements=[DEVICES], needs=NEEDS, over=ANY)
def test_restart_devices(bench):
    """The same: no device from before the restart is used without GETDEVICEINFO."""
    script, outcome = _restarted(bench, DEVICES)
    asked = [call.at for call in script.of("GETDEVICEINFO") if call.at > script.known_at]
    end = min(asked, default=1 << 62)
    used = [call for call in script.data_io if script.known_at < call.at < end]
    what = "READs and WRITEs by a device from before the restart"
    expect.equal(len(used), 0, DEVICES, what, outcome=outcome)

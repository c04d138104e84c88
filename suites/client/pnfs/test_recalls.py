"""CB_LAYOUTRECALL and CB_NOTIFY_DEVICEID while a client copies a file (RFC 8881 12.5.5, 20.3, 20.12)."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from .striped_server import (
    ALL,
    FOR_ALL,
    FOR_FILE,
    FOR_FSID,
    has_io,
    is_data_io,
    is_data_write,
    NEEDS,
    NFS4,
    StripedServer,
    use_striped,
)

RETURNED, WHOLE, STATEID = "RFC8881-20.3.3-1", "RFC8881-12.5.5.1-2", "RFC8881-12.5.5.2.1.2-2"
OUTSTANDING, BEHIND, CHANGED = "RFC8881-12.5.5.1-1", "RFC8881-12.5.5-3", "RFC8881-20.3.3-2"
COMMITTED, NO_MATCH, BULK = "RFC8881-12.5.4-1", "RFC8881-12.5.5.1-3", "RFC8881-12.5.5.2.1.5-4"
OVERTAKEN, REFERRED, BULK_DELAY = (
    "RFC8881-12.5.5.2.1-1",
    "RFC8881-12.5.5.2.1-2",
    "RFC8881-12.5.5.2.1.5-2",
)
ORDER, MAPPINGS, CROSSED = "RFC8881-12.5.3-3", "RFC8881-20.12.3-2", "RFC8881-12.5.5.2.1.2-1"
OK, DELAY, NO_LAYOUT = "NFS4_OK", "NFS4ERR_DELAY", "NFS4ERR_NOMATCHING_LAYOUT"
KINDS = {"file": FOR_FILE, "fsid": FOR_FSID, "all": FOR_ALL}
RETURNS = {"file": "LAYOUTRETURN4_FILE", "fsid": "LAYOUTRETURN4_FSID", "all": "LAYOUTRETURN4_ALL"}
USES = {"reading": is_data_io, "writing": is_data_write}
# READs and WRITEs under way: few, so that there are some behind the recall.
FEW = ["--in-flight", "4"]
# A recall that the client puts off is repeated at a later reply.
MOST_RECALLS = 8
PUT_OFF = f"the client answers {DELAY} for as long as it uses data servers"
NOTHING_HELD = "the client has given the layout back by itself"
NOTHING_UNDER_WAY = "the client has no call at a data server under way"


class Recalled(StripedServer):
    """Recalls the layout in use, again if the client puts that off. `when`: at which reply."""

    def __init__(self, kind=FOR_FILE, when=is_data_io, stalls=False, results=None, **recall):
        super().__init__(self._recall, when, results=results, stalls=stalls)
        self._kind, self._fields = kind, recall
        self.got = None  # the LAYOUTGET
        self.answered_at = None
        self.status = None

    def _recall(self, back):
        self.got = self.layout_in_use
        for number in range(1, MOST_RECALLS + 1):
            recall = self.recall(self.got, self._kind, **self._fields)
            answer = yield back.call(recall, number=number)
            self.status = answer.status("CB_LAYOUTRECALL")
            if self.status != DELAY:
                break
            yield back.next_reply()
        self.answered_at = self._tick()
        if self.status == OK and self._kind == FOR_FILE:
            self.took(self.got)

    @property
    def returns(self):
        """LAYOUTRETURNs behind the recall that are about its layout, and not about one that was granted behind them."""
        found = [call for call in self.of("LAYOUTRETURN") if call.at > self.answered_at]
        found = [call for call in found if _kind(call) != "file" or call.file == self.got.file]
        again = [
            call.at
            for call in self.layouts
            if found and call.file == self.got.file and call.at > found[0].at
        ]
        return [call for call in found if not again or call.at < again[0]]

    @property
    def returned_at(self):
        """When the layout went back."""
        of_kind = [call for call in self.returns if KINDS[_kind(call)] == self._kind]
        return of_kind[-1].at if of_kind else None


def _kind(call):
    """The kind of recall that the LAYOUTRETURN answers."""
    name = call["LAYOUTRETURN"].lora_layoutreturn.lr_returntype.name
    return next(kind for kind, each in RETURNS.items() if each == name)


def recalled(bench, script, requirement_id, **options):
    """The outcome of a client whose layout is recalled, and which completes; NFS4_OK is its answer."""
    outcome = use_striped(bench, script, own=FEW, **options)
    expect(outcome, requirement_id, must=[kinds.COMPLETED])
    if script.waits:
        bench.not_testable("the client does not use data servers, or has no backchannel")
    if script.status is None:
        bench.not_testable(script.not_testable_reason or "the client does not answer")
    if script.status == NO_LAYOUT:
        bench.not_testable(NOTHING_HELD)
    if script.status == DELAY:
        bench.not_testable(PUT_OFF)
    expect.equal(script.status, OK, requirement_id, "status of CB_LAYOUTRECALL", outcome=outcome)
    return outcome


@case("client.pnfs.recall.{name}-{use}", requirements=[RETURNED, WHOLE], needs=NEEDS)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("use", USES)
def test_returned(bench, name, use):
    """The layout is recalled while the file is read, or written. It goes back by a LAYOUTRETURN of the same kind and
    range, and the copy is whole."""
    script = Recalled(KINDS[name], USES[use])
    outcome = recalled(bench, script, RETURNED)
    expect.true(bool(script.returns), RETURNED, "LAYOUTRETURN follows the recall", outcome=outcome)
    last = script.returns[-1]["LAYOUTRETURN"] if script.returns else None
    if last is None:
        return
    what = "lr_returntype of the last LAYOUTRETURN"
    returned = last.lora_layoutreturn
    expect.equal(returned.lr_returntype.name, RETURNS[name], WHOLE, what, outcome=outcome)
    iomode = NFS4.LayoutIomode.LAYOUTIOMODE4_ANY
    expect.equal(last.lora_iomode, iomode, WHOLE, "lora_iomode of it", outcome=outcome)
    if name == "file":
        scope = returned.lr_layout
        what = "offset and length of the last LAYOUTRETURN"
        expect.equal((scope.lrf_offset, scope.lrf_length), (0, ALL), WHOLE, what, outcome=outcome)


@case("client.pnfs.recall.stateid", requirements=[STATEID], needs=NEEDS)
def test_stateid(bench):
    """The first LAYOUTRETURN for a recall has the seqid of the recall."""
    script = Recalled()
    outcome = recalled(bench, script, STATEID)
    given = script.got.result("LAYOUTGET").logr_stateid
    if not script.returns:
        bench.not_testable("the client sends no LAYOUTRETURN")
    stateid = script.returns[0]["LAYOUTRETURN"].lora_layoutreturn.lr_layout.lrf_stateid
    what = "seqid of lrf_stateid in the first LAYOUTRETURN"
    expect.equal(stateid.seqid, given.seqid + 1, STATEID, what, outcome=outcome)


@case("client.pnfs.recall.outstanding-{use}", requirements=[OUTSTANDING], needs=NEEDS)
@pytest.mark.parametrize("use", USES)
def test_outstanding(bench, use):
    """The replies of the data servers wait until the client is quiet. The layout does not go back before them."""
    script = Recalled(when=USES[use], stalls=True)
    outcome = recalled(bench, script, OUTSTANDING)
    if script.returned_at is None:
        bench.not_testable("the client sends no LAYOUTRETURN")
    if script.released_at is None:
        bench.not_testable(NOTHING_UNDER_WAY)
    what = "the layout goes back behind the replies of the data servers"
    waited = script.released_at < script.returned_at
    expect.true(waited, OUTSTANDING, what, outcome=outcome)


@case("client.pnfs.recall.no-io-behind-{use}", requirements=[BEHIND], needs=NEEDS)
@pytest.mark.parametrize("use", USES)
def test_behind(bench, use):
    """Behind LAYOUTRETURN the data servers get nothing for the file."""
    script = Recalled(when=USES[use])
    outcome = recalled(bench, script, BEHIND)
    if script.returned_at is None:
        bench.not_testable("the client sends no LAYOUTRETURN")
    late = [call for call in _io_of(script) if call.at > script.returned_at]
    what = "READs, WRITEs and COMMITs at data servers behind LAYOUTRETURN"
    expect.equal(len(late), 0, BEHIND, what, outcome=outcome)


def _io_of(script):
    """READs, WRITEs and COMMITs at data servers by the layout that was recalled, and not by a later one."""
    again = [call.at for call in script.layouts if call.at > script.got.at]
    end = min(again, default=ALL)
    found = script.at_data_servers("READ", "WRITE", "COMMIT")
    return [call for call in found if script.got.at < call.at < end]


@case("client.pnfs.recall.changed", requirements=[CHANGED], needs=NEEDS)
def test_changed(bench):
    """The layout is recalled with clora_changed while the file is written. The replies of the data servers wait until
    the client is quiet. What is left goes to the metadata server."""
    script = Recalled(when=is_data_write, changed=True, stalls=True)
    outcome = recalled(bench, script, CHANGED)
    if script.released_at is None:
        bench.not_testable(NOTHING_UNDER_WAY)
    if script.released_at < script.answered_at:
        bench.not_testable("the client answers the recall behind the replies of its calls")
    late = [call for call in _io_of(script) if "WRITE" in call and call.at > script.released_at]
    expect.equal(len(late), 0, CHANGED, "WRITEs at data servers behind the recall", outcome=outcome)


@case("client.pnfs.recall.modified-data", requirements=[COMMITTED], needs=NEEDS)
def test_modified(bench):
    """The layout of a file with new octets at data servers is recalled. LAYOUTCOMMIT comes before the return."""
    script = Recalled(when=is_data_write)
    outcome = recalled(bench, script, COMMITTED)
    commits = [call for call in script.of("LAYOUTCOMMIT") if call.file == script.got.file]
    if not commits or script.returned_at is None:
        bench.not_testable("the client sends no LAYOUTCOMMIT, or no LAYOUTRETURN")
    held = all(call.at < script.returned_at for call in commits)
    expect.true(held, COMMITTED, "LAYOUTCOMMIT comes before the layout goes back", outcome=outcome)


@case("client.pnfs.recall.bulk-stateid-{name}", requirements=[BULK], needs=NEEDS)
@pytest.mark.parametrize("name", ["fsid", "all"])
def test_bulk_stateid(bench, name):
    """All layouts are recalled. From then on no layout stateid is used but in LAYOUTCOMMIT."""
    script = Recalled(KINDS[name], is_data_write)
    outcome = recalled(bench, script, BULK)
    other = bytes(script.got.result("LAYOUTGET").logr_stateid.other)
    used = [
        call
        for call in script.of("LAYOUTRETURN", "LAYOUTGET")
        if call.at > script.answered_at and _layout_stateid(call) == other
    ]
    what = "LAYOUTRETURNs and LAYOUTGETs with a layout stateid behind a bulk recall"
    expect.equal(len(used), 0, BULK, what, outcome=outcome)


def _layout_stateid(call):
    if "LAYOUTGET" in call:
        return bytes(call["LAYOUTGET"].loga_stateid.other)
    if _kind(call) != "file":
        return None
    return bytes(call["LAYOUTRETURN"].lora_layoutreturn.lr_layout.lrf_stateid.other)


# -- recalls that find no layout ----------------------------------------------------------------------------------


UNKNOWN = {
    "unknown-handle": {"lor_fh": b"\xfe" * 16},
}


@case("client.pnfs.recall.{name}", requirements=[NO_MATCH], needs=NEEDS)
@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown(bench, name):
    """A layout is recalled of a file that the client does not know. It says that it has none."""
    script = Recalled(**UNKNOWN[name])
    outcome = use_striped(bench, script, own=FEW)
    expect(outcome, NO_MATCH, must=[kinds.COMPLETED])
    if script.status is None:
        bench.not_testable(script.not_testable_reason or "the client does not use data servers")
    expect.equal(script.status, NO_LAYOUT, NO_MATCH, "status of CB_LAYOUTRECALL", outcome=outcome)


@case("client.pnfs.recall.range-not-held", requirements=[NO_MATCH], needs=NEEDS)
def test_range_not_held(bench):
    """The layout covers the first octets, and those far behind them are recalled."""

    def shorten(_call, result):
        for each in result.resok4.logr_layout if int(result.status) == 0 else []:
            each.lo_length = 1 << 30
        return result

    script = Recalled(results={"LAYOUTGET": shorten}, lor_offset=1 << 40)
    outcome = use_striped(bench, script, own=FEW)
    expect(outcome, NO_MATCH, must=[kinds.COMPLETED])
    if script.status is None:
        bench.not_testable(script.not_testable_reason or "the client does not use data servers")
    expect.equal(script.status, NO_LAYOUT, NO_MATCH, "status of CB_LAYOUTRECALL", outcome=outcome)


# -- recalls and replies that cross -------------------------------------------------------------------------------


def _is_layoutget(reply):
    return reply.conn.server is None and has_io(reply, "LAYOUTGET")


class Overtaking(StripedServer):
    """Recalls a layout before the reply to the LAYOUTGET that grants it."""

    def __init__(self, kind=FOR_FILE, refers=False):
        super().__init__(self._recall, _is_layoutget, tolerates_delay=True)
        self._kind, self._refers = kind, refers
        self.status = None

    def _recall(self, back):
        got = self.layouts[-1]
        referring = [self.waiting] if self._refers else []
        recall = self.recall(got, self._kind)
        answer = yield back.call(recall, number=1, referring=referring)
        self.status = answer.status("CB_LAYOUTRECALL")


def expect_delayed(bench, script, requirement_id):
    outcome = use_striped(bench, script)
    expect(outcome, requirement_id, must=[kinds.COMPLETED])
    if script.status is None:
        bench.not_testable(script.not_testable_reason or "the client asks for no layout")
    what = "status of a CB_LAYOUTRECALL that overtakes the reply"
    expect.equal(script.status, DELAY, requirement_id, what, outcome=outcome)


@case("client.pnfs.recall.overtakes-layoutget", requirements=[OVERTAKEN], needs=NEEDS)
def test_overtaking(bench):
    """A recall comes before the reply to the first LAYOUTGET of its file. Its seqid says that there is such a reply:
    the client puts the recall off."""
    expect_delayed(bench, Overtaking(), OVERTAKEN)


@case("client.pnfs.recall.refers-to-layoutget", requirements=[REFERRED], needs=NEEDS)
def test_referring(bench):
    """The same, and CB_SEQUENCE names the LAYOUTGET whose reply is under way."""
    expect_delayed(bench, Overtaking(refers=True), REFERRED)


@case("client.pnfs.recall.{name}-overtakes-layoutget", requirements=[BULK_DELAY], needs=NEEDS)
@pytest.mark.parametrize("name", ["fsid", "all"])
def test_bulk_overtaking(bench, name):
    """All layouts are recalled while a LAYOUTGET has no reply. The client puts that off."""
    expect_delayed(bench, Overtaking(KINDS[name]), BULK_DELAY)


class Swapped(StripedServer):
    """Recalls both halves of a file, the second half first."""

    def __init__(self):
        super().__init__(self._recall, is_data_io, tolerates_delay=True)
        self.statuses = []

    def _recall(self, back):
        got = self.layout_in_use
        half = 10 * 8192
        for number, ahead, scope in (
            (1, 2, {"lor_offset": half, "lor_length": ALL - half}),
            (2, 1, {"lor_length": half}),
        ):
            answer = yield back.call(self.recall(got, ahead=ahead, **scope), number=number)
            self.statuses.append(answer.status("CB_LAYOUTRECALL"))
        self.took(got, self.statuses.count(OK))


@case("client.pnfs.recall.order", requirements=[ORDER], needs=NEEDS)
def test_order(bench):
    """Of two recalls of a file the second comes first. The client puts it off until it has the other one."""
    script = Swapped()
    outcome = use_striped(bench, script, own=FEW)
    expect(outcome, ORDER, must=[kinds.COMPLETED])
    if len(script.statuses) < 2:
        bench.not_testable(script.not_testable_reason or "the client does not use data servers")
    what = "statuses of the second recall, which came first, and of the first one"
    expect.equal(script.statuses, [DELAY, OK], ORDER, what, outcome=outcome)


def _is_layoutreturn(reply):
    return reply.conn.server is None and has_io(reply, "LAYOUTRETURN")


@case("client.pnfs.recall.crosses-layoutreturn", requirements=[CROSSED], needs=NEEDS)
def test_crossing(bench):
    """A recall comes before the reply to LAYOUTRETURN. Its seqid is the next one: the server had not seen the
    LAYOUTRETURN. The client answers without waiting for that reply."""
    script = Recalled(when=_is_layoutreturn)
    outcome = use_striped(bench, script)
    expect(outcome, CROSSED, must=[kinds.COMPLETED])
    if script.lost:
        bench.not_testable("the connection was lost while the server called")
    answered = script.status is not None
    what = "the recall is answered before the reply to LAYOUTRETURN has come"
    expect.true(answered, CROSSED, what, outcome=outcome)


# -- devices ------------------------------------------------------------------------------------------------------

CHANGE = 1  # NOTIFY_DEVICEID4_CHANGE


class Notified(StripedServer):
    """The device changes, at a READ."""

    def __init__(self, device=None, immediate=True):
        super().__init__(self._notify, is_data_io)
        self._device, self._immediate = device, immediate
        self.status = self.at = None

    def _notify(self, back):
        device = self._device or next(iter(self.devices))
        values = (1).to_bytes(4, "big") + device + self._immediate.to_bytes(4, "big")
        change = NFS4.Notify(notify_mask=[1 << CHANGE], notify_vals=values)
        notice = NFS4.CbNotifyDeviceidArgs(cnda_changes=[change])
        answer = yield back.call(("CB_NOTIFY_DEVICEID", notice), number=1)
        self.status = answer.status("CB_NOTIFY_DEVICEID")
        self.at = self._tick()

    @property
    def used_late(self):
        """READs and WRITEs at data servers behind the change, and before GETDEVICEINFO. Those that were sent before
        the client had it may come with it."""
        asked = [call.at for call in self.of("GETDEVICEINFO") if call.at > self.at]
        end = min(asked, default=ALL)
        return [call for call in self.data_io if self.at < call.at < end]


@case("client.pnfs.device.changed-{name}", requirements=[MAPPINGS], needs=NEEDS)
@pytest.mark.parametrize("name", ["at-once", "later"])
def test_device_changed(bench, name):
    """The device of the layout changes. New READs and WRITEs wait for its new mapping, or go to the metadata
    server."""
    script = Notified(immediate=name == "at-once")
    outcome = use_striped(bench, script, own=FEW)
    expect(outcome, MAPPINGS, must=[kinds.COMPLETED])
    if script.status is None:
        bench.not_testable(script.not_testable_reason or "the client does not use data servers")
    if script.status != OK:
        bench.not_testable("the client takes no CB_NOTIFY_DEVICEID")
    what = "READs and WRITEs to the old addresses"
    expect.at_most(len(script.used_late), int(FEW[-1]), MAPPINGS, what, outcome=outcome)


@case(
    "client.pnfs.device.unknown-changed",
    requirements=[MAPPINGS],
    needs=NEEDS,
    unfailed={"client.pnfs.device.unknown-changed": "Nothing has to be done."},
)
def test_unknown_device_changed(bench):
    """A device changes that no layout has. The client goes on."""
    script = Notified(device=b"\xcc" * 16)
    outcome = use_striped(bench, script, own=FEW)
    expect(outcome, MAPPINGS, must=[kinds.COMPLETED])
    if script.status is None:
        bench.not_testable(script.not_testable_reason or "the client does not use data servers")

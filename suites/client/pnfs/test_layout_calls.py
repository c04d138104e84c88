"""LAYOUTGET, LAYOUTCOMMIT and LAYOUTRETURN of a client that copies a file (RFC 8881 12.5, 18.42 to 18.44)."""

from steertag.suite import ANY, case, expect
from .striped_server import (
    ALL,
    copied_by_data_servers,
    FILES,
    is_data_io,
    NEEDS,
    NFS4,
    StripedServer,
    UNIT,
    use_striped,
)

TYPE, ANY_IOMODE, IOMODE = "RFC8881-3.3.13-1", "RFC8881-12.2.9-1", "RFC8881-13.8-1"
FIRST, FURTHER = "RFC8881-12.5.2-1", "RFC8881-12.5.2-4"
HIGHEST, GONE, NOT_ZERO = "RFC8881-12.5.3-2", "RFC8881-12.5.3-4", "RFC8881-18.44.3-3"
WITH_LAYOUT, INSIDE = "RFC8881-12.5.4-1", "RFC8881-18.42.3-3"
LAST_OCTET = "RFC8881-18.42.3-4"
READ_LAYOUT = NFS4.LayoutIomode.LAYOUTIOMODE4_READ
RW_LAYOUT = NFS4.LayoutIomode.LAYOUTIOMODE4_RW
# READs and WRITEs under way: few, so that there are some behind a recall.
FEW = ["--in-flight", "4"]
# RFC 8881 8.2.3: seqid and `other` of the special stateid that stands for the current one.
CURRENT = (1, bytes(12))
# The field of the layout type in the arguments.
TYPES = {
    "LAYOUTGET": "loga_layout_type",
    "LAYOUTRETURN": "lora_layout_type",
    "GETDEVICEINFO": "gdia_layout_type",
}


@case("client.pnfs.layoutget.type", requirements=[TYPE], needs=NEEDS, over=ANY)
def test_type(bench):
    """The server has layouts of files only. The client asks for no other type."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    for name, field in TYPES.items():
        for call in script.of(name):
            expect.equal(
                getattr(call[name], field), FILES, TYPE, f"{field} of {name}", outcome=outcome
            )
    copied_by_data_servers(bench, script, outcome, TYPE)


def _share_access(script, file):
    """OPEN4_SHARE_ACCESS_READ, _WRITE or _BOTH of all OPENs of the file together."""
    found = 0
    for call in script.of("OPEN"):
        if call.succeeded("OPEN") and call.file == file:
            found |= int(call["OPEN"].share_access) & int(NFS4.OPEN4_SHARE_ACCESS_BOTH)
    return found


@case("client.pnfs.layoutget.iomode", requirements=[ANY_IOMODE, IOMODE], needs=NEEDS, over=ANY)
def test_iomode(bench):
    """A file that is open for reading needs a layout for reading. No layout is asked for with
    LAYOUTIOMODE4_ANY."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    for call in script.of("LAYOUTGET"):
        iomode = call["LAYOUTGET"].loga_iomode
        legal = iomode in (READ_LAYOUT, RW_LAYOUT)
        expect.true(legal, ANY_IOMODE, "loga_iomode is READ or RW", outcome=outcome)
        if _share_access(script, call.file) == NFS4.OPEN4_SHARE_ACCESS_READ:
            what = "loga_iomode of a file that is open for reading"
            expect.equal(iomode, READ_LAYOUT, IOMODE, what, outcome=outcome)
    copied_by_data_servers(bench, script, outcome, IOMODE)


def _open_stateids(script):
    """`other` of the stateids of opens and delegations that the server gave."""
    found = set()
    for call in script.of("OPEN"):
        if call.succeeded("OPEN"):
            opened = call.result("OPEN")
            found.add(bytes(opened.stateid.other))
            found |= _delegated(opened.delegation)
    return found


def _delegated(delegation):
    name = delegation.delegation_type.name
    if name == "OPEN_DELEGATE_READ":
        return {bytes(delegation.read.stateid.other)}
    return {bytes(delegation.write.stateid.other)} if name == "OPEN_DELEGATE_WRITE" else set()


def _is_open_stateid(call, known):
    """Whether loga_stateid is among these. RFC 8881 8.2.3: the current stateid behind an OPEN is that of the open."""
    stateid = call["LAYOUTGET"].loga_stateid
    if (stateid.seqid, bytes(stateid.other)) == CURRENT:
        return "OPEN" in call.names[: call.names.index("LAYOUTGET")]
    return bytes(stateid.other) in known


@case("client.pnfs.layoutget.first-stateid", requirements=[FIRST], needs=NEEDS, over=ANY)
def test_first_stateid(bench):
    """The first LAYOUTGET of a file carries the stateid of an open or a delegation."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    seen, known = set(), _open_stateids(script)
    for call in script.of("LAYOUTGET"):
        if call.file not in seen:
            what = "loga_stateid is that of an open or a delegation"
            expect.true(_is_open_stateid(call, known), FIRST, what, outcome=outcome)
        seen.add(call.file)
    copied_by_data_servers(bench, script, outcome, FIRST)


class HalfRecalled(StripedServer):
    """Recalls half of the layout in use, so that a client may give it back in parts, or ask for it again."""

    def __init__(self):
        super().__init__(self._recall, is_data_io)
        self.stateid = None  # that of the recall, once the client has taken it
        self.taken_at = None

    def _recall(self, back):
        got = self.layout_in_use
        recall = self.recall(got, lor_length=10 * UNIT)
        answer = yield back.call(recall, number=1)
        if answer.status("CB_LAYOUTRECALL") == "NFS4_OK":
            self.took(got)
            self.stateid = recall[1].clora_recall.lor_layout.lor_stateid
            self.taken_at = self._tick()


def _given(call):
    """The layout stateid that the reply to LAYOUTGET or LAYOUTRETURN has; None without one."""
    if call.succeeded("LAYOUTGET"):
        return call.result("LAYOUTGET").logr_stateid
    if call.succeeded("LAYOUTRETURN") and call.result("LAYOUTRETURN").lrs_present:
        return call.result("LAYOUTRETURN").lrs_stateid
    return None


def _shows_reply(script, earlier, call):
    """Whether the client certainly had the reply to the earlier call when it made this one. RFC 8881 2.10.6.1: it uses
    a slot again only behind the reply. A connection keeps the order of replies."""
    behind = {}  # (session, slot): sequence id of a call that was answered behind the earlier one
    for each in script.of("SEQUENCE"):
        sequence = each["SEQUENCE"]
        slot = bytes(sequence.sa_sessionid), sequence.sa_slotid
        if each.at > call.at:
            return False
        if behind.get(slot, sequence.sa_sequenceid) != sequence.sa_sequenceid:
            return True
        if each.conn is earlier.conn and (each.answered_at or 0) >= earlier.answered_at:
            behind[slot] = sequence.sa_sequenceid
    return False


@case("client.pnfs.layoutget.further-stateid", requirements=[FURTHER], needs=NEEDS)
def test_further_stateid(bench):
    """Half of a layout is recalled. A LAYOUTGET of a file whose layout is held carries the layout stateid, with
    another seqid than 0. Ours opens the file once more while it has the other half."""
    script = HalfRecalled()
    outcome = use_striped(bench, script, own=[*FEW, "--open-again"])
    held, further = {}, 0
    for call in script.of("LAYOUTGET", "LAYOUTRETURN"):
        last = held.get(call.file)
        if "LAYOUTGET" in call and last and _shows_reply(script, last, call):
            further += 1
            stateid = call["LAYOUTGET"].loga_stateid
            same = stateid.other == _given(last).other
            what = "loga_stateid is the layout stateid"
            expect.true(same, FURTHER, what, outcome=outcome)
            expect.true(stateid.seqid != 0, FURTHER, "its seqid is not 0", outcome=outcome)
        if _given(call):
            held[call.file] = call
        elif "LAYOUTRETURN" in call:
            held.pop(call.file, None)
    copied_by_data_servers(bench, script, outcome, FURTHER)
    if not further:
        bench.not_testable("the client asks for no further layout of a file whose layout it holds")


def _returns(script):
    """[(Call, lrf_stateid)] of LAYOUTRETURNs of a file."""
    found = []
    for call in script.of("LAYOUTRETURN"):
        what = call["LAYOUTRETURN"].lora_layoutreturn
        if what.lr_returntype.name == "LAYOUTRETURN4_FILE":
            found.append((call, what.lr_layout.lrf_stateid))
    return found


def _expect_newest(script, call, stateid, outcome, recalled=0):
    """The seqid is the highest one of the replies that the client has, and of a recall that it has taken. A reply that
    may be under way counts, too."""
    given = [
        (each, _given(each).seqid)
        for each in script.of("LAYOUTGET", "LAYOUTRETURN")
        if _given(each) and _given(each).other == stateid.other and each.answered_at < call.at
    ]
    known = [seqid for each, seqid in given if _shows_reply(script, each, call)]
    least = max([recalled, *known])
    newest = [seqid for _, seqid in given if seqid > least] + ([least] if least else [])
    what = "seqid of lrf_stateid, the newest that the client got"
    expect.one_of(stateid.seqid, newest, HIGHEST, what, outcome=outcome)


@case("client.pnfs.layoutreturn.seqid", requirements=[HIGHEST, NOT_ZERO], needs=NEEDS, over=ANY)
def test_return_seqid(bench):
    """LAYOUTRETURN carries the layout stateid as the last reply has given it."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    for call, stateid in _returns(script):
        expect.true(stateid.seqid != 0, NOT_ZERO, "seqid of lrf_stateid is not 0", outcome=outcome)
        _expect_newest(script, call, stateid, outcome)
    copied_by_data_servers(bench, script, outcome, NOT_ZERO)
    if not _returns(script):
        bench.not_testable("the client keeps its layouts")


@case("client.pnfs.layoutreturn.seqid-behind-recall", requirements=[HIGHEST], needs=NEEDS)
def test_return_seqid_behind_recall(bench):
    """Half of a layout is recalled. LAYOUTRETURN carries the seqid of the recall. One of the other half carries the
    seqid that the reply to the first has given."""
    script = HalfRecalled()
    outcome = use_striped(bench, script, own=FEW)
    copied_by_data_servers(bench, script, outcome, HIGHEST)
    if script.stateid is None:
        bench.not_testable(script.not_testable_reason or "the client does not take the recall")
    behind = [
        (call, stateid)
        for call, stateid in _returns(script)
        if call.at > script.taken_at and stateid.other == script.stateid.other
    ]
    if not behind:
        bench.not_testable("the client sends no LAYOUTRETURN")
    for call, stateid in behind:
        _expect_newest(script, call, stateid, outcome, recalled=script.stateid.seqid)


@case("client.pnfs.layoutcommit.held", requirements=[WITH_LAYOUT, GONE], needs=NEEDS, over=ANY)
def test_commit_held(bench):
    """A file is written at data servers. LAYOUTCOMMIT comes before the layout goes back, and no layout stateid
    is used behind that."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    returned = {}
    for call, stateid in _returns(script):
        if call.succeeded("LAYOUTRETURN") and not call.result("LAYOUTRETURN").lrs_present:
            returned[bytes(stateid.other)] = call.at
    for call in script.of("LAYOUTCOMMIT"):
        other = bytes(call["LAYOUTCOMMIT"].loca_stateid.other)
        held = call.at < returned.get(other, ALL)
        expect.true(
            held,
            GONE,
            "the stateid of LAYOUTCOMMIT is one of a layout that is held",
            outcome=outcome,
        )
        expect.true(held, WITH_LAYOUT, "LAYOUTCOMMIT comes before LAYOUTRETURN", outcome=outcome)
    copied_by_data_servers(bench, script, outcome, WITH_LAYOUT)
    if not script.of("LAYOUTCOMMIT"):
        bench.not_testable("the client sends no LAYOUTCOMMIT")


@case("client.pnfs.layoutcommit.range", requirements=[INSIDE], needs=NEEDS, over=ANY)
def test_commit_range(bench):
    """The last write offset that LAYOUTCOMMIT names is within its range."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    named = 0
    for call in script.of("LAYOUTCOMMIT"):
        args = call["LAYOUTCOMMIT"]
        if not args.loca_last_write_offset.no_newoffset:
            continue
        named += 1
        last, first = args.loca_last_write_offset.no_offset, args.loca_offset
        inside = first <= last and (args.loca_length == ALL or last < first + args.loca_length)
        what = "the last write offset is within the range that is committed"
        expect.true(inside, INSIDE, what, outcome=outcome)
    copied_by_data_servers(bench, script, outcome, INSIDE)
    if not named:
        bench.not_testable("the client names no last write offset")


@case("client.pnfs.layoutcommit.last-octet", requirements=[LAST_OCTET], needs=NEEDS)
def test_commit_last_octet(bench):
    """The last write offset that LAYOUTCOMMIT names is no octet behind the last that was written. With sparse
    packing, offsets at data servers are those of the file."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    named = 0
    for call in script.of("LAYOUTCOMMIT"):
        offset = call["LAYOUTCOMMIT"].loca_last_write_offset
        if not offset.no_newoffset:
            continue
        named += 1
        writes = [each["WRITE"] for each in script.at_data_servers("WRITE") if each.at < call.at]
        last = max((each.offset + len(each.data) - 1 for each in writes), default=-1)
        expect.at_most(offset.no_offset, last, LAST_OCTET, "last write offset", outcome)
    copied_by_data_servers(bench, script, outcome, LAST_OCTET)
    if not named:
        bench.not_testable("the client names no last write offset")

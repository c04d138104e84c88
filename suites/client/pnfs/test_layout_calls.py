"""LAYOUTGET, LAYOUTCOMMIT and LAYOUTRETURN of a client that copies a file (RFC 8881 12.5, 18.42 to 18.44)."""

from steertag.suite import case, expect
from .striped_server import (
    ALL,
    copied_by_data_servers,
    FILES,
    NEEDS,
    NFS4,
    StripedServer,
    use_striped,
)

TYPE, ANY_IOMODE, IOMODE = "RFC8881-3.3.13-1", "RFC8881-12.2.9-1", "RFC8881-13.8-1"
FIRST, FURTHER = "RFC8881-12.5.2-1", "RFC8881-12.5.2-4"
HIGHEST, GONE, NOT_ZERO = "RFC8881-12.5.3-2", "RFC8881-12.5.3-4", "RFC8881-18.44.3-3"
WITH_LAYOUT, INSIDE = "RFC8881-12.5.4-1", "RFC8881-18.42.3-3"
READ_LAYOUT = NFS4.LayoutIomode.LAYOUTIOMODE4_READ
RW_LAYOUT = NFS4.LayoutIomode.LAYOUTIOMODE4_RW
# RFC 8881 8.2.3: seqid and `other` of the special stateid that stands for the current one.
CURRENT = (1, bytes(12))
# The field of the layout type in the arguments.
TYPES = {
    "LAYOUTGET": "loga_layout_type",
    "LAYOUTRETURN": "lora_layout_type",
    "GETDEVICEINFO": "gdia_layout_type",
}


@case("client.pnfs.layoutget.type", requirements=[TYPE], needs=NEEDS)
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


@case("client.pnfs.layoutget.iomode", requirements=[ANY_IOMODE, IOMODE], needs=NEEDS)
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


@case("client.pnfs.layoutget.first-stateid", requirements=[FIRST], needs=NEEDS)
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


@case("client.pnfs.layoutget.further-stateid", requirements=[FURTHER], needs=NEEDS)
def test_further_stateid(bench):
    """A LAYOUTGET of a file whose layout is held carries the layout stateid, with another seqid than 0."""
    script = StripedServer()
    outcome = use_striped(bench, script, own=["--twice"])
    held = {}
    for call in script.of("LAYOUTGET", "LAYOUTRETURN"):
        if "LAYOUTRETURN" in call:
            held.pop(call.file, None)
            continue
        stateid = call["LAYOUTGET"].loga_stateid
        if call.file in held:
            what = "loga_stateid is the layout stateid"
            same = bytes(stateid.other) == held[call.file]
            expect.true(same, FURTHER, what, outcome=outcome)
            expect.true(stateid.seqid != 0, FURTHER, "its seqid is not 0", outcome=outcome)
        if call.succeeded("LAYOUTGET"):
            held[call.file] = bytes(call.result("LAYOUTGET").logr_stateid.other)
    copied_by_data_servers(bench, script, outcome, FURTHER)


def _returns(script):
    """[(Call, lrf_stateid)] of LAYOUTRETURNs of a file."""
    found = []
    for call in script.of("LAYOUTRETURN"):
        what = call["LAYOUTRETURN"].lora_layoutreturn
        if what.lr_returntype.name == "LAYOUTRETURN4_FILE":
            found.append((call, what.lr_layout.lrf_stateid))
    return found


@case("client.pnfs.layoutreturn.seqid", requirements=[HIGHEST, NOT_ZERO], needs=NEEDS)
def test_return_seqid(bench):
    """LAYOUTRETURN carries the layout stateid as the last LAYOUTGET has given it."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    for call, stateid in _returns(script):
        expect.true(stateid.seqid != 0, NOT_ZERO, "seqid of lrf_stateid is not 0", outcome=outcome)
        given = [each.result("LAYOUTGET").logr_stateid for each in script.layouts]
        seqids = [each.seqid for each in given if bytes(each.other) == bytes(stateid.other)]
        what = "lrf_stateid is one that the server gave"
        expect.true(stateid.seqid in seqids, HIGHEST, what, outcome=outcome)
    copied_by_data_servers(bench, script, outcome, NOT_ZERO)
    if not _returns(script):
        bench.not_testable("the client keeps its layouts")


@case("client.pnfs.layoutcommit.held", requirements=[WITH_LAYOUT, GONE], needs=NEEDS)
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


@case("client.pnfs.layoutcommit.range", requirements=[INSIDE], needs=NEEDS)
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

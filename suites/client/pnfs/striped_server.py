"""A metadata server with data servers, and what it says otherwise than the reference server (RFC 8881 12, 13)."""

import dataclasses
import time

from steertag import nfs, rpc, wire
from steertag.suite import client_kinds as kinds, expect
from steertag.suite.cases.case_end import NotTestable
from steertag.suite.client.backchannel import Backchannel
from steertag.suite.client.script import operations_of
from steertag.suite.nfs_client.compound import built, read_compound
from steertag.suite.nfs_client.file_layout import read_device, read_layout
from .taken_recalls import TakenRecalls

NFS4 = nfs.nfs4
NEEDS = ["client-nfs4.1", "client-backchannel"]
SERVERS = 3
# The source has 21 of them; the last is not whole. A READ has one at most.
UNIT = 8192
ALL = (1 << 64) - 1
FILES = NFS4.LayoutType.LAYOUT4_NFSV4_1_FILES
MDS, DS = 0x20000, 0x40000  # EXCHGID4_FLAG_USE_PNFS_MDS, _DS
FOR_FILE = NFS4.LayoutrecallType.LAYOUTRECALL4_FILE
FOR_FSID = NFS4.LayoutrecallType.LAYOUTRECALL4_FSID
FOR_ALL = NFS4.LayoutrecallType.LAYOUTRECALL4_ALL
IO = ("READ", "WRITE")
# How long replies of data servers wait for the answer to a callback. A client may answer behind them. It is below the
# time after which clients send a call again (client_needs.py).
MOST_STALLED_SECONDS = 1.0
_UNUSED = "needs pnfs: the server is a metadata server of file layouts, and the client never asked for one"


@dataclasses.dataclass
class Call:
    """A COMPOUND of the client, as it was sent and as it was answered."""

    conn: object  # client_connection.ClientConnection
    xid: int
    operations: list  # [(nfs4.Opnum, arguments)]
    at: int  # its place among all calls and replies of the run
    reply: object = None  # compound.CompoundReply as the client gets it, once it is due
    answered_at: int | None = None

    @property
    def server(self):
        """The number of the data server; None of the metadata server."""
        return self.conn.server

    @property
    def names(self):
        return [number.name for number, _ in self.operations]

    def __contains__(self, name):
        return name in self.names

    def __getitem__(self, name):
        """The arguments of the first operation of this name."""
        return next(arguments for number, arguments in self.operations if number.name == name)

    @property
    def handle(self):
        """The filehandle that PUTFH names; None without one."""
        return bytes(self["PUTFH"].object) if "PUTFH" in self else None

    @property
    def file(self):
        """The filehandle of the file that its last operations are about. A COMPOUND with OPEN asks for it by GETFH,
        and may have LAYOUTGET too."""
        found = self.result("GETFH")
        return self.handle if found is None else bytes(found.object)

    @property
    def io(self):
        """The arguments of its READ or WRITE; None without one."""
        return next((self[name] for name in IO if name in self), None)

    def result(self, name):
        """The result of that operation if it has succeeded; else None."""
        if self.reply is None or name not in self.reply:
            return None
        result = self.reply[name]
        return result.resok4 if int(result.status) == 0 else None

    def succeeded(self, name):
        return self.reply is not None and name in self.reply and int(self.reply[name].status) == 0


class StripedServer(Backchannel):
    """Notes every call, and bends some, by functions in tables with the names of operations.

    - `results`: function(call, result) at the metadata server gives what the client gets, or None for the same.
    - `elsewhere`: the same at data servers.
    - `arguments`: function(call, arguments) at data servers says whether it has changed them.

    `callbacks` and `when` are those of a Backchannel. With `stalls` the replies of data servers wait until the callbacks
    are answered and the client is quiet, for MOST_STALLED_SECONDS without an answer.
    """

    def __init__(
        self,
        callbacks=None,
        when=None,
        results=None,
        elsewhere=None,
        arguments=None,
        stalls=False,
        **back,
    ):
        super().__init__(callbacks, when or (lambda reply: False), **back)
        self._has_callbacks = callbacks is not None
        self._results, self._elsewhere = results or {}, elsewhere or {}
        self._arguments = arguments or {}
        self._stalls, self._stalled = stalls, []
        self._begun = None  # when the callbacks began, time.monotonic()
        # When the stalled replies have left.
        self.released_at = None
        self.calls = []  # Call, in order
        self.refused = set()  # data servers that take no connection
        # Whether it looks at connections of data servers, or at their messages of RDMA.
        self.needs_rdma = stalls
        self.requests = []  # data servers that were asked for one, by number
        self._now = 0
        self._taken = TakenRecalls()

    @property
    def waits(self):
        return self._has_callbacks and super().waits

    # -- what was called -------------------------------------------------------------------------

    def of(self, *names):
        """The calls to the metadata server that have one of these operations."""
        return [call for call in self.calls if call.server is None and _has(call, names)]

    def at_data_servers(self, *names):
        """The same to data servers; without names all of them."""
        return [call for call in self.calls if call.server is not None and _has(call, names)]

    @property
    def data_io(self):
        """READs and WRITEs at data servers."""
        return self.at_data_servers(*IO)

    @property
    def layouts(self):
        """LAYOUTGETs that have granted a layout."""
        return [call for call in self.of("LAYOUTGET") if call.succeeded("LAYOUTGET")]

    @property
    def layout_in_use(self):
        """The LAYOUTGET by which the call was made whose reply waited first; of a call to the metadata server, the last
        one."""
        made = {
            number.name: arguments for number, arguments in operations_of(self._held[0].rpc_call)
        }
        handle = bytes(made["PUTFH"].object) if "PUTFH" in made else None
        return next(
            (call for call in reversed(self.layouts) if handle in _handles(call)), self.layouts[-1]
        )

    @property
    def devices(self):
        """{device id: file_layout.Device} as the client knows it last."""
        found = {}
        for call in self.of("GETDEVICEINFO"):
            if call.succeeded("GETDEVICEINFO"):
                body = call.result("GETDEVICEINFO").gdir_device_addr.da_addr_body
                found[bytes(call["GETDEVICEINFO"].gdia_device_id)] = read_device(body)
        return found

    # -- recalls ---------------------------------------------------------------------------------

    def recall(self, call, kind=FOR_FILE, changed=False, ahead=1, **layout):
        """CB_LAYOUTRECALL of what the LAYOUTGET has granted, or of all of its file system, or of all. `ahead`: how
        far the seqid is from the last one. `layout` are fields of layoutrecall_file4."""
        what = {"lor_recalltype": kind}
        if kind == FOR_FILE:
            got = call.result("LAYOUTGET").logr_stateid
            stateid = NFS4.StateId(seqid=got.seqid + ahead, other=got.other)
            fields = {"lor_fh": call.file, "lor_length": ALL, "lor_stateid": stateid, **layout}
            what["lor_layout"] = fields
        elif kind == FOR_FSID:
            what["lor_fsid"] = self._fsid()
        fields = {"clora_changed": changed, "clora_recall": what}
        fields["clora_iomode"] = NFS4.LayoutIomode.LAYOUTIOMODE4_ANY
        return "CB_LAYOUTRECALL", built(NFS4.cb_args_class("CB_LAYOUTRECALL"), fields)

    def took(self, call, recalls=1):
        """The client has taken so many recalls of the layout. The reference server does not know them."""
        self._taken.add(call, recalls)

    def _fsid(self):
        """That of the export, which the client has asked for."""
        for call in reversed(self.of("GETATTR")):
            found = (
                NFS4.attributes(call.result("GETATTR").obj_attributes)
                if call.succeeded("GETATTR")
                else {}
            )
            if "fsid" in found:
                return found["fsid"]
        return NFS4.Fsid()

    # -- what the server shows -------------------------------------------------------------------

    def note(self, reply):
        """Sessions at data servers have no backchannel."""
        return super().note(reply) if reply.conn.server is None else None

    def on_data_request(self, server, step):
        self.requests.append(server)
        if server in self.refused:
            step.answer = "reject"

    def kill(self, server):
        """The data server ends its connections, and takes no further one."""
        self.refused.add(server)
        for conn in self.bench.connections:
            if conn.server == server and conn.raw is not None and conn.raw.up:
                conn.raw.abort()

    def on_call(self, conn, call):
        operations = operations_of(call)
        if not operations:
            return None
        xid = int.from_bytes(call[:4], "big")
        made = Call(conn, xid, operations_of(call), self._tick())
        self.calls.append(made)
        bent = [self._bend_arguments(made, number.name, args) for number, args in operations]
        if not any(bent):
            return None
        arguments = rpc.Call.decode(call)[1]
        fixed, _ = NFS4.decode_args(arguments)
        return _head(call, arguments) + NFS4.encode_args(operations, fixed)

    def _bend_arguments(self, call, name, arguments):
        """Whether the server is to see other arguments than the client has sent."""
        if call.server is not None:
            bend = self._arguments.get(name)
            return bool(bend and bend(call, arguments))
        return self._taken.bend_arguments(call, name, arguments)

    def on_reply(self, conn, call, reply):
        xid = int.from_bytes(call[:4], "big")
        made = next(
            (each for each in reversed(self.calls) if (each.conn, each.xid) == (conn, xid)), None
        )
        if made is None:
            return None
        try:
            body = rpc.Reply.decode(reply)[1]
            made.reply = read_compound(body)
        except wire.DecodeError:
            return None
        made.answered_at = self._tick()
        table = self._results if conn.server is None else self._elsewhere
        results = _bent_results(made, lambda name, result: self._bend(made, table, name, result))
        if results is None:
            return None
        octets = NFS4.encode_result(results, tag=made.reply.tag)
        made.reply = read_compound(octets) if _decodes(octets) else None
        return _head(reply, body) + octets

    def _bend(self, call, table, name, result):
        """What the client gets in the place of a result; None: the same."""
        bend = table.get(name)
        bent = bend(call, result) if bend else None
        if call.server is not None:
            return bent
        return self._taken.result_of(call, name, result if bent is None else bent) or bent

    def _tick(self):
        self._now += 1
        return self._now

    def post(self, reply):
        if not self._stalls or reply.conn.server is None or self._callbacks is not None:
            return False
        self._stalled.append(reply)
        return True

    @property
    def _awaits_answer(self):
        """Replies are to wait, and a callback has no answer yet."""
        return self._stalls and self._holding and self._callbacks is not None and not self.lost

    def on_poll(self):
        super().on_poll()
        if not self._awaits_answer:
            self._begun = None
        elif self._begun is None:
            self._begun = time.monotonic()
        elif time.monotonic() - self._begun > MOST_STALLED_SECONDS:
            self._stalls, self.released_at = False, self._tick()
            self.release()

    def on_quiet(self):
        if self._awaits_answer:
            return
        super().on_quiet()
        if self._stalled:
            self._stalls, stalled, self._stalled = False, self._stalled, []
            self.released_at = self._tick()
            for reply in stalled:
                reply.conform_late()


def _handles(call):
    """Filehandles at data servers that a LAYOUTGET has given."""
    layouts = call.result("LAYOUTGET").logr_layout
    return {handle for each in layouts for handle in read_layout(each.lo_content.loc_body).handles}


def _has(call, names):
    return not names or any(name in call for name in names)


def _head(message, body):
    """The RPC header in front of a message's body."""
    return bytes(message[: len(message) - len(body)])


def _decodes(octets):
    try:
        read_compound(octets)
    except wire.DecodeError:
        return False
    return True


def _bent_results(call, bend):
    """The results in the place of those of the reply, up to the first error; None if they are the same. `bend` of a
    name and its result gives another result, or None."""
    changed, made = False, []
    for number, result in call.reply.results:
        bent = bend(number.name, result)
        changed |= bent is not None
        result = bent or result
        made.append((number, result))
        if changed and int(getattr(result, "status", 0)) != 0:
            break
    return made if changed else None


# -- bends ------------------------------------------------------------------------------------------------------


def bent_layout(bend):
    """For `results`: bend(file_layout.FileLayout) of each layout that is granted. What it returns, if it does, are
    the octets of the body."""

    def change(_call, result):
        if int(result.status) != 0:
            return None
        for each in result.resok4.logr_layout:
            layout = read_layout(each.lo_content.loc_body)
            octets = bend(layout)
            each.lo_content.loc_body = layout.encode() if octets is None else octets
        return result

    return {"LAYOUTGET": change}


def bent_device(bend):
    """The same of file_layout.Device in the results of GETDEVICEINFO."""

    def change(_call, result):
        if int(result.status) != 0:
            return None
        address = result.resok4.gdir_device_addr
        device = read_device(address.da_addr_body)
        octets = bend(device)
        address.da_addr_body = device.encode() if octets is None else octets
        return result

    return {"GETDEVICEINFO": change}


def failed(name, status):
    """For `elsewhere`: a function by which the operation of this name fails."""
    value = NFS4.Status[status]

    def change(_call, result):
        return dataclasses.replace(result, status=value)

    return {name: change}


# -- verdicts ---------------------------------------------------------------------------------------------------


def is_data_io(reply):
    """For `when`: it answers READ or WRITE at a data server."""
    return reply.conn.server is not None and has_io(reply)


def is_data_write(reply):
    return reply.conn.server is not None and has_io(reply, "WRITE")


def has_io(reply, *names):
    """Whether the call has READ or WRITE, or one of these operations."""
    found = {number.name for number, _ in operations_of(reply.rpc_call)}
    return not found.isdisjoint(names or IO)


def use_striped(bench, script, servers=SERVERS, unit=UNIT, own=(), **pattern):
    """The outcome of a client of a metadata server with so many data servers. One that completes and never asks for
    a layout has no pNFS."""
    if script.needs_rdma and bench.client.data_servers_by_tcp:
        bench.not_testable("over TCP the connections of data servers are not seen")
    server = {"data_servers": servers, "unit_bytes": unit, **pattern}
    try:
        outcome = bench.use(script, server=server, own=own)
    except NotTestable:
        if script.calls and not script.of("LAYOUTGET"):
            bench.unsupported(_UNUSED)
        raise
    if outcome.kind in kinds.DONE and script.calls and not script.of("LAYOUTGET"):
        bench.unsupported(_UNUSED)
    return outcome


def need_io(bench, script):
    """Ends the case unless the client has used the data servers."""
    if not script.data_io:
        bench.not_testable(
            "the client has a layout, and sends READ and WRITE to the metadata server"
        )


def copied_by_data_servers(bench, script, outcome, requirement_id):
    """The client completes, and has used the data servers."""
    expect(outcome, requirement_id, must=[kinds.COMPLETED])
    need_io(bench, script)


def own_uses_data_servers(bench, script, outcome, requirement_id, what):
    """I/O goes to data servers, as far as a client has to: a client may turn to the metadata server whenever it
    likes. Ours does so only where it must."""
    if bench.client.ours:
        expect.true(bool(script.data_io), requirement_id, what, outcome=outcome)
    elif not script.data_io:
        bench.latitude(requirement_id, "it turns to the metadata server")

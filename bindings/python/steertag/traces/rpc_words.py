"""RPC messages of one connection in words. A reply is decoded by its call."""

from .. import nfs, rpc, wire
from ..reduced_items import COMPOUND, module_of, with_arguments, with_item
from . import direct_words, nfs3_words, nfs4_words
from .stateids import Stateids

# Calls kept for their replies: more than any server grants credits; beyond that the oldest is forgotten.
MOST_CALLS = 4096
_NFS4 = nfs.nfs4


class RpcWords:
    """The calls seen so far, and the stateids that they were given."""

    def __init__(self):
        self._calls = {}  # (sender, XID): ((program, version, procedure), is callback, its name)
        self._operations = {}  # the same keys: what operation_of() gives
        self._stateids = Stateids()

    def words(self, sender, payload, header_xid=None, positions=(), items=()):
        """An RPC message from `sender`. `header_xid` is rdma_xid. `positions` are those of read chunks, and `items`
        the octets of returned write chunks; only their lengths matter."""
        try:
            is_call = rpc.direction(payload) == rpc.MessageType.CALL
            text = (self._call if is_call else self._reply)(
                sender, payload, positions if is_call else items
            )
            xid = rpc.xid(payload)
        except wire.DecodeError as fault:
            return f"no RPC message: it breaks at {fault}"
        differs = header_xid is not None and xid != header_xid
        return f"{text}; RPC xid 0x{xid:08x} differs" if differs else text

    def operation_of(self, xid):
        """What the call with this XID asks for, in the words of RFCs ("NFSv3 READ", "NFSv4.1 OPEN GETATTR"), or "".
        The client's calls go before callbacks."""
        return self._operations.get(("client", xid)) or self._operations.get(("server", xid), "")

    def _call(self, sender, payload, positions):
        call, arguments = rpc.Call.decode(payload)
        asked = call.program, call.version, call.procedure
        is_callback = sender == "server"
        name, words, operation = self._asked(asked, is_callback, payload, arguments, positions)
        if call.credential.flavor == rpc.RPCSEC_GSS:
            words = "with RPCSEC_GSS"
        self._calls.pop((sender, call.xid), None)
        self._calls[sender, call.xid] = asked, is_callback, name
        self._operations[sender, call.xid] = operation
        if len(self._calls) > MOST_CALLS:
            oldest = next(iter(self._calls))
            del self._calls[oldest], self._operations[oldest]
        return f"CALL {name} {words}".rstrip()

    def _asked(self, asked, is_callback, payload, arguments, positions):
        """(the procedure's name, its arguments in words, the operation)"""
        if is_callback and asked[2] in (_NFS4.CB_NULL, _NFS4.CB_COMPOUND):
            if asked[2] == _NFS4.CB_NULL:
                return "NFSv4 CB_NULL", "", "NFSv4 CB_NULL"
            return _compound("CB_COMPOUND", nfs4_words.call_words(arguments, True, self._stateids))
        if asked[:2] == COMPOUND[:2] and asked[2] == _NFS4.NFSPROC4_NULL:
            return "NFSv4 NULL", "", "NFSv4 NULL"
        if asked != COMPOUND and module_of(asked) is None:
            name = "program {} version {} procedure {}".format(*asked)
            return name, "", name
        try:
            whole = with_arguments(payload, positions)
        except wire.DecodeError:
            whole = bytes(payload)  # the decoder says where it breaks
        if asked == COMPOUND:
            _, arguments = rpc.Call.decode(whole)
            return _compound("COMPOUND", nfs4_words.call_words(arguments, False, self._stateids))
        module = module_of(asked)
        words = _words_of(module)
        name = words.procedure_name(module, asked[2])
        try:
            _, decoded = module.decode_call(whole)
        except wire.DecodeError as fault:
            return name, f"{_reduced(positions)} break at {fault}", name
        return name, words.argument_words(module, asked[2], decoded), name

    def _reply(self, sender, payload, items):
        reply, results = rpc.Reply.decode(payload)
        if reply.status != rpc.ReplyStatus.MSG_ACCEPTED:
            why = reply.reject_status
            detail = reply.auth_status if why == rpc.RejectStatus.AUTH_ERROR else reply.mismatch
            detail = getattr(detail, "name", None) or f"low {detail.low} high {detail.high}"
            return f"REPLY MSG_DENIED {why.name} {detail}"
        known = self._calls.get(("client" if sender == "server" else "server", reply.xid))
        name = f"{known[2]} " if known else ""
        if reply.accept_status != rpc.AcceptStatus.SUCCESS:
            return f"REPLY {name}{reply.accept_status.name}"
        if known is None:
            return "REPLY SUCCESS to a call that was not seen"
        return f"REPLY {name}{self._results(known, payload, results, items)}"

    def _results(self, known, payload, results, items):
        asked, is_callback, _ = known
        if is_callback:
            if asked[2] != _NFS4.CB_COMPOUND:
                return "SUCCESS"
            return nfs4_words.reply_words(results, True, self._stateids)
        module = module_of(asked)
        if asked != COMPOUND and module is None:
            return "SUCCESS"
        try:
            whole = with_item(asked, payload, items)
        except wire.DecodeError:
            whole = bytes(payload)  # the decoder says where it breaks
        if asked == COMPOUND:
            return nfs4_words.reply_words(rpc.Reply.decode(whole)[1], False, self._stateids)
        try:
            _, result = module.decode_reply(asked[2], whole)
        except wire.DecodeError as fault:
            return f"results break at {fault}"
        return _words_of(module).result_words(module, asked[2], result)


def _words_of(module):
    return direct_words if module is nfs.direct else nfs3_words


def _reduced(positions):
    """The arguments of a call; what read chunks hold is not among them."""
    if not positions:
        return "arguments"
    return f"arguments without those in read chunks at {', '.join(map(str, positions))}"


def _compound(procedure, decoded):
    minor, words, operations = decoded
    version = "NFSv4" if minor is None else f"NFSv4.{minor}"
    return f"{version} {procedure}", words, f"{version} {' '.join(operations) or procedure}"

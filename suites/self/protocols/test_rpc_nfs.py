"""Uses ONC RPC, NFS version 3, MOUNT and the binding the way cases do."""

import dataclasses
import gc
import struct

import pytest

from steertag import nfs, rpc
from steertag.reduced_items import with_item
from steertag.wire import DecodeError

nfs3, nfs4, mount3, binding = nfs.nfs3, nfs.nfs4, nfs.mount3, nfs.binding

HANDLE = bytes(range(32))


def write_call(length):
    args = nfs3.WriteArgs(file=HANDLE, count=length, data=bytes(length))
    return nfs3.encode_call("WRITE", args, xid=1)


def default_call(name):
    """A call of the procedure with default arguments."""
    args = getattr(nfs3, name.capitalize() + "Args", lambda: None)()
    return nfs3.encode_call(name, args, xid=1)


class TestRpc:
    def test_call_round_trip(self):
        credential = rpc.auth_sys(uid=1000, gid=100, gids=[4, 27], machine_name="lab")
        call = rpc.Call(xid=7, program=100003, version=3, procedure=6, credential=credential)
        back, arguments = rpc.Call.decode(call.encode(b"args"))
        assert back == call
        assert arguments == b"args"
        assert back.credential.flavor is rpc.AUTH_SYS
        assert rpc.AuthSys.decode(back.credential.body).gids == [4, 27]

    def test_reply_arms(self):
        denied = rpc.Reply(
            xid=7, status=rpc.MSG_DENIED, reject_status=rpc.AUTH_ERROR, auth_status=rpc.AUTH_TOOWEAK
        )
        assert denied.encode() == bytes.fromhex("00000007 00000001 00000001 00000001 00000005")
        assert rpc.Reply.decode(denied.encode()) == (denied, b"")

    def test_direction(self):
        assert rpc.direction(rpc.Call(xid=1).encode()) is rpc.MessageType.CALL
        assert rpc.direction(rpc.Reply(xid=1).encode()) is rpc.MessageType.REPLY
        assert rpc.direction(bytes(7)) is None
        assert rpc.xid(bytes.fromhex("12345678")) == 0x12345678

    def test_fault_carries_its_place(self):
        with pytest.raises(DecodeError) as caught:
            rpc.Call.decode(bytes(10))
        assert (caught.value.code, caught.value.offset, caught.value.field) == (
            "truncated",
            8,
            "rpcvers",
        )

    def test_records(self):
        reader = rpc.RecordReader()
        stream = rpc.record(b"first", fragment_octets=2) + rpc.record(b"second")
        found = []
        for octet in stream:
            found += reader.feed(bytes([octet]))
        assert found == [b"first", b"second"]
        assert not reader.mid_record
        with pytest.raises(DecodeError):
            rpc.RecordReader(record_limit=4).feed(rpc.record(b"12345"))


class TestNfs3:
    @pytest.mark.parametrize("name", [each.name for each in nfs3.Procedure])
    def test_every_procedure_round_trips(self, name):
        call, args = nfs3.decode_call(default_call(name))
        assert call.procedure == nfs3.Procedure[name]
        assert args == (None if name == "NULL" else getattr(nfs3, name.capitalize() + "Args")())
        if name == "NULL":
            return
        result_class = getattr(nfs3, name.capitalize() + "Result")
        failed = result_class(status=nfs3.NFS3ERR_STALE)
        reply, back = nfs3.decode_reply(name, nfs3.encode_reply(name, failed, xid=1))
        assert reply.xid == 1
        assert back == failed
        assert back.status is nfs3.NFS3ERR_STALE

    def test_fields_can_be_set(self):
        args = nfs3.ReadArgs(file=HANDLE, offset=0, count=4096)
        args.count = 17
        assert nfs3.decode_args("READ", nfs3.encode_args("READ", args)) == args
        assert dataclasses.replace(args, offset=5).offset == 5
        assert nfs3.ReadArgs.decode(args.encode()) == args

    def test_defaults_are_not_shared(self):
        first, second = nfs3.SymlinkArgs(), nfs3.SymlinkArgs()
        first.where.name = "changed"
        assert second.where.name == ""

    def test_names_that_are_no_text_are_kept(self):
        args = nfs3.LookupArgs(what=nfs3.DirOpArgs(dir=HANDLE, name=b"\xff\x00a"))
        octets = args.encode()
        back = nfs3.LookupArgs.decode(octets)
        assert back.encode() == octets

    def test_readdir_entries(self):
        result = nfs3.ReaddirResult()
        result.ok.entries = [nfs3.Entry(fileid=1, name="."), nfs3.Entry(fileid=2, name="..")]
        result.ok.eof = True
        assert nfs3.decode_result("READDIR", result.encode()) == result

    def test_values_survive_what_they_came_from(self):
        result = nfs3.ReadResult(ok=nfs3.ReadOk(count=3, eof=True, data=b"abc"))
        octets = bytearray(result.encode())
        back = nfs3.decode_result("READ", octets)
        octets[:] = bytes(len(octets))
        del octets
        gc.collect()
        assert back.ok.data == b"abc"

    def test_illegal_values_can_be_sent(self):
        args = nfs3.WriteArgs(file=bytes(68), count=9, stable=77, data=b"abc")
        octets = args.encode()
        assert octets[:4] == bytes([0, 0, 0, 68])
        with pytest.raises(DecodeError) as caught:
            nfs3.WriteArgs.decode(octets)
        assert caught.value.offset == 0
        assert caught.value.field == "file"

    def test_trailing_octets_are_a_fault(self):
        octets = nfs3.ReadArgs().encode() + bytes(4)
        with pytest.raises(DecodeError) as caught:
            nfs3.decode_args("READ", octets)
        assert caught.value.code == "trailing_bytes"
        assert caught.value.offset == len(octets) - 4

    @pytest.mark.parametrize(
        ("make", "error", "text"),
        [
            (lambda: nfs3.ReadArgs(count=2**32).encode(), ValueError, "ReadArgs.count"),
            (lambda: nfs3.ReadArgs(count=-1).encode(), ValueError, "ReadArgs.count"),
            (lambda: nfs3.ReadArgs(count="1").encode(), TypeError, "ReadArgs.count: int expected"),
            (lambda: nfs3.ReadArgs(file=bytes(129)).encode(), ValueError, "ReadArgs.file"),
            (lambda: nfs3.LookupArgs(what=None).encode(), TypeError, "LookupArgs.what: DirOpArgs"),
            (
                lambda: nfs3.LookupArgs(what=nfs3.DirOpArgs(name=5)).encode(),
                TypeError,
                "LookupArgs.what.name: str or bytes expected, not int",
            ),
            (
                lambda: nfs3.encode_args("READ", nfs3.WriteArgs()),
                TypeError,
                "READ arguments: ReadArgs expected, not WriteArgs",
            ),
            (lambda: nfs3.encode_args("ROOT"), ValueError, "no procedure 'ROOT'"),
            (lambda: nfs3.encode_args(22), ValueError, "no procedure 22"),
        ],
    )
    def test_wrong_values_name_their_field(self, make, error, text):
        with pytest.raises(error) as caught:
            make()
        assert text in str(caught.value)


class TestMount3:
    def test_mnt(self):
        call, args = mount3.decode_call(mount3.encode_call("MNT", mount3.DirPath("/srv"), xid=3))
        assert call.program == mount3.PROGRAM
        assert args.path == "/srv"
        result = mount3.MntResult(fhandle=HANDLE, auth_flavors=[rpc.AUTH_SYS, 390003])
        assert mount3.decode_result("MNT", result.encode()) == result

    def test_export(self):
        exports = mount3.ExportList(
            exports=[mount3.ExportNode(dir="/a", groups=[mount3.GroupNode(name="net")])]
        )
        assert mount3.decode_result("EXPORT", exports.encode()) == exports


class TestBinding:
    def test_write_of_4101_octets_is_at_position_96(self):
        call = write_call(4101)
        position, length = binding.eligible_argument(call)
        assert (position, length) == (96, 4101)
        reduced = binding.eligible_argument(call[:96])
        assert (reduced.position, reduced.length, reduced.reduced) == (96, 4101, True)

    def test_only_two_procedures_have_an_eligible_argument(self):
        eligible = {
            each.name
            for each in nfs3.Procedure
            if binding.eligible_argument(default_call(each.name)) is not None
        }
        assert eligible == {"WRITE", "SYMLINK"}

    def test_result(self):
        result = nfs3.ReadResult(ok=nfs3.ReadOk(count=5, data=b"hello"))
        reply = nfs3.encode_reply("READ", result, xid=1)
        position, length = binding.eligible_result(reply, nfs3.PROGRAM, 3, nfs3.Procedure.READ)
        assert reply[position : position + length] == b"hello"

    def test_cut_call_is_a_fault(self):
        with pytest.raises(DecodeError):
            binding.eligible_argument(write_call(5)[:80])

    def test_table(self):
        assert len(binding.table()) == 8

    def test_largest_reply(self):
        call = nfs3.encode_call("READ", nfs3.ReadArgs(file=HANDLE, count=4101), xid=1)
        size = nfs.largest_reply(call)
        assert (size.payload, size.eligible, size.reduced) == (24 + 104 + 4104, 4101, 24 + 104)
        assert nfs.largest_reply(mount3.encode_call("EXPORT", xid=1)) is None


READ_RESULTS = {
    nfs3.VERSION: (0, 0, 0x7FFFFFFF, 0, 0x7FFFFFFF),  # status, attributes, count, eof, data
    nfs4.VERSION: (0, 0, 1, nfs4.Opnum.READ, 0, 0, 0x7FFFFFFF),
}


@pytest.mark.parametrize("version", READ_RESULTS)
def test_no_memory_is_filled_for_octets_that_a_reply_only_claims(version):
    procedure = {3: nfs3.Procedure.READ, 4: nfs4.NFSPROC4_COMPOUND}[version]
    words = READ_RESULTS[version]
    reply = rpc.Reply(xid=1).encode(struct.pack(f">{len(words)}I", *words))
    with pytest.raises(DecodeError, match="2147483647 octets was asked for by no call"):
        with_item((nfs3.PROGRAM, version, int(procedure)), reply, [b"data"])

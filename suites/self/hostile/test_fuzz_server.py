"""The fuzzer of the whole server: the kept corpus breaks nothing, planted faults are found, and what is found plays
again."""

import random
import re

import fuzz_server
import pytest
from fuzz_changes import Change, MOST_PIECES, random_changes
from fuzz_server import ANSWER_LIMIT_S, Fuzzed, Input, inputs, made, read, SIZES, STREAMS
from fuzz_streams import IwarpStream, RecordStream, segments_of
from fuzz_uses import USES
from steertag import nfs, rpc, wire

from suites.server.iwarp.fpdus import LAST_BIT, UNTAGGED_OCTETS

NFS3, NFS4 = nfs.nfs3, nfs.nfs4
SEEDS = 10
# One of them finds a planted fault, behind others that do not.
FAULT_SEEDS = range(60, 70)
# A server that hangs is not waited for as long as one on a busy machine.
HANG_S = 3
# Each use over each transport, with each version.
WHOLE = [
    (name, over, version)
    for name, use in USES.items()
    for over in use.over
    for version in use.versions
]
# What no other use calls.
CALLED = {
    "names": {"LINK", "SYMLINK", "READLINK", "RENAME", "READDIRPLUS", "COMMIT", "MKNOD", "SETATTR"},
    "opens": {
        *("SETCLIENTID", "SETCLIENTID_CONFIRM", "OPEN", "OPEN_CONFIRM", "OPEN_DOWNGRADE", "LOCK"),
        *("LOCKT", "LOCKU", "RENEW", "RELEASE_LOCKOWNER", "CLOSE", "COMMIT", "LINK", "VERIFY"),
    },
    "delegations": {
        *("OPEN", "DELEGRETURN", "TEST_STATEID", "BACKCHANNEL_CTL", "BIND_CONN_TO_SESSION"),
        *("DESTROY_SESSION", "DESTROY_CLIENTID", "CB_RECALL"),
    },
}


def test_the_corpus_breaks_nothing(tmp_path):
    with Fuzzed(tmp_path) as fuzzed:
        for name, one in inputs(SEEDS, 1):
            assert fuzzed.play(one) == "", f"{name}: {one.text()}"
        assert fuzzed.messages > 0


def test_the_corpus_has_each_use():
    assert {one.use for _, one in inputs(0, 1)} == USES.keys()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name, over, version", WHOLE)
def test_a_use_without_changes_goes_to_its_end(tmp_path, name, over, version, size):
    with Fuzzed(tmp_path) as fuzzed:
        one = Input(over, version, size, [], name)
        USES[name].play(fuzzed.client(one, fuzzed.urls[over], ANSWER_LIMIT_S))


@pytest.mark.parametrize("name, over, version", WHOLE)
def test_each_message_of_a_use_may_be_changed(tmp_path, name, over, version):
    with Fuzzed(tmp_path) as fuzzed:
        assert fuzzed.play(Input(over, version, max(SIZES), [], name)) == ""
        assert fuzzed.messages <= USES[name].messages


def messages_over(monkeypatch, over):
    """The messages that pass over this transport from now on."""
    heard = []

    class Heard(STREAMS[over]):
        def take(self, octets):
            found = super().take(octets)
            heard.extend(found)
            return found

    monkeypatch.setitem(STREAMS, over, Heard)
    return heard


@pytest.mark.parametrize("name", CALLED)
def test_a_use_makes_its_calls(tmp_path, monkeypatch, name):
    heard = messages_over(monkeypatch, "tcp")
    with Fuzzed(tmp_path) as fuzzed:
        assert fuzzed.play(Input("tcp", USES[name].versions[0], min(SIZES), [], name)) == ""
    assert CALLED[name] <= {each for message in heard for each in names_in(message)}


def names_in(message):
    """The names of what a record calls, or answers."""
    if rpc.direction(message) == rpc.MessageType.REPLY:
        _, results = rpc.Reply.decode(message)
        return [number.name for number, _ in NFS4.decode_cb_result(results)[1]] if results else []
    call, arguments = rpc.Call.decode(message)
    if (call.program, call.version) == (NFS3.PROGRAM, NFS3.VERSION):
        return [NFS3.Procedure(call.procedure).name]
    if (call.program, call.version) == (NFS4.PROGRAM, NFS4.VERSION) and arguments:
        return [number.name for number, _ in NFS4.decode_args(arguments)[1]]
    return []


def test_chunks_of_all_kinds_are_offered(tmp_path, monkeypatch):
    heard = messages_over(monkeypatch, "rdma")
    with Fuzzed(tmp_path) as fuzzed:
        assert fuzzed.play(Input("rdma", 3, min(SIZES), [], "chunks")) == ""
    assert CHUNKS <= {each for message in heard for each in chunks_in(message)}


# (how it is called, (segments and positions of the read list), segments of each write chunk, and of the reply chunk)
CHUNKS = {
    ("MSG", (3, 1), (), None),
    ("NOMSG", (4, 2), (), None),
    ("NOMSG", (3, 1), (), None),
    ("MSG", (0, 0), (3,), None),
    ("MSG", (0, 0), (1,), 1),
    ("MSG", (0, 0), (), 3),
    ("MSG", (0, 0), (0, 1), 1),
    ("MSG", (2, 2), (), None),
    ("MSG", (0, 0), (1, 1), None),
}


def chunks_in(message):
    """[the shape of the lists] of a Send with a call, in the form of CHUNKS."""
    try:
        header, _ = wire.decode(message[UNTAGGED_OCTETS:])
    except wire.DecodeError:
        return []
    positions = [entry.position for entry in header.read_list]
    reply_chunk = None if header.reply_chunk is None else len(header.reply_chunk)
    write_list = tuple(len(chunk) for chunk in header.write_list)
    return [(header.proc.name, (len(positions), len(set(positions))), write_list, reply_chunk)]


@pytest.mark.parametrize(
    "deviation, said",
    [
        ("exits-on-broken-list", "the server ended: exit status 70"),
        ("hangs-on-broken-list", "over .* no answer: "),
    ],
)
def test_a_planted_fault_is_found_and_plays_again(tmp_path, monkeypatch, deviation, said):
    monkeypatch.setattr(fuzz_server, "ANSWER_LIMIT_S", HANG_S)
    with Fuzzed(tmp_path, "--deviate", deviation) as fuzzed:
        one = next(each for each in map(made, FAULT_SEEDS) if fuzzed.play(each))
        again = read(fuzzed.keep(one, "found"))
        assert again == one
        assert re.match(said, fuzzed.play(again))


def test_memory_beyond_the_limit_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz_server, "MOST_MEMORY_MIB", 1)
    with Fuzzed(tmp_path) as fuzzed:
        assert "MiB" in fuzzed.play(Input("tcp", 3, 100, []))


def test_an_input_is_the_same_each_time():
    assert made(7) == made(7) and made(7) != made(8)


def test_what_is_no_input_is_told(tmp_path):
    path = tmp_path / "input.yaml"
    path.write_text("over: rdma\n")
    with pytest.raises(ValueError, match="is no input"):
        read(path)


WORDS = bytes.fromhex("00000001 00000002 00000003")


@pytest.mark.parametrize(
    "change, made_of_it",
    [
        (Change(0, "set", 1, 0xFFFFFFFF), ["00000001 ffffffff 00000003"]),
        (Change(0, "add", 0, -1), ["00000000 00000002 00000003"]),
        (Change(0, "flip", 2, 31), ["00000001 00000002 80000003"]),
        (Change(0, "cut", 5), ["00000001 00"]),
        (Change(0, "grow", 2, 255), ["00000001 00000002 00000003 ffff"]),
        (Change(0, "insert", 1, 9), ["00000001 00000009 00000002 00000003"]),
        (Change(0, "remove", 1), ["00000001 00000003"]),
        (Change(0, "copy", 0, 2), ["00000001 00000002 00000001"]),
        (Change(0, "drop"), []),
        (Change(0, "twice"), ["00000001 00000002 00000003"] * 2),
    ],
)
def test_changes(change, made_of_it):
    assert change.apply(WORDS) == [bytes.fromhex(each) for each in made_of_it]


def test_changes_take_any_message():
    source = random.Random(1)
    for _ in range(200):
        for change in random_changes(source, 20):
            for octets in (b"", b"\x01", WORDS):
                assert all(isinstance(each, bytes) for each in change.apply(octets))


@pytest.mark.parametrize("make", [IwarpStream, RecordStream])
def test_streams_carry_what_they_have_taken(make):
    messages = [bytes(16) + b"\0\0\0\2ab", b"a message", b"", WORDS]
    sender, receiver = make(), make()
    octets = b"".join(sender.carried(each, False) for each in messages)
    taken = [each for at in range(len(octets)) for each in receiver.take(octets[at : at + 1])]
    assert taken == messages


@pytest.mark.parametrize("piece", [1, 5, 64])
def test_a_record_comes_in_fragments(piece):
    messages = [WORDS, b"", bytes(200)]
    octets = b"".join(RecordStream().carried(each, False, piece) for each in messages)
    assert rpc.RecordReader().feed(octets) == messages
    assert RecordStream().carried(bytes(10), True, 5).hex() == ("00000005" + "00" * 5) * 2


@pytest.mark.parametrize(
    "header, offset_at",
    [
        (bytes.fromhex("4143 00000000 00000000 00000001 00000000"), slice(14, 18)),
        (bytes.fromhex("c140 12345678 00000000fffffffe"), slice(6, 14)),
    ],
)
def test_a_message_comes_in_segments(header, offset_at):
    start = int.from_bytes(header[offset_at], "big")
    segments = segments_of(header + WORDS, 5)
    assert b"".join(each[len(header) :] for each in segments) == WORDS
    offsets = [int.from_bytes(each[offset_at], "big") - start for each in segments]
    assert offsets == [0, 5, 10]
    assert [bool(each[0] & LAST_BIT) for each in segments] == [False, False, True]
    assert segments_of(header, 5) == [header]


def test_pieces_are_few():
    change = Change(0, "split", 0)
    assert change.piece_octets(WORDS) == 1
    assert len(segments_of(bytes(40000), change.piece_octets(bytes(40000)))) <= MOST_PIECES

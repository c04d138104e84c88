"""Superseded dialects from Python: the prototype of 2003, RFC 5666, and the judges of their captures."""

import pytest

from steertag import conformance, ledger, rpc, trace, wire

XID = 0x12345678
CALL = wire.Writer().u32(XID).u32(0).u32(2).bytes()
REPLY = wire.Writer().u32(XID).u32(1).u32(0).bytes()
ITEM = wire.PrototypeChunk(offset=96, length=4096, handle=0xAABBCC01, address=0x7F0000001000)
CLIENT, SERVER = trace.Role.client, trace.Role.server


def octets(text):
    return bytes.fromhex(text)


# Octets by the document, encoded by hand: header, RPC message.
PROTOTYPE = {
    "message": (wire.PrototypeHeader(xid=XID), "12345678 00000001 00000000 00000000", CALL),
    "chunk": (
        wire.PrototypeHeader(xid=XID, chunks=[ITEM]),
        "12345678 00000001 00000000 00000001 00000060 00001000 aabbcc01 00007f00 00001000 00000000",
        REPLY,
    ),
    "long": (
        wire.PrototypeHeader(xid=XID, chunks=[wire.PrototypeChunk(0, 1500, 7, 1 << 33)]),
        "12345678 00000001 00000000 00000001 00000000 000005dc 00000007 00000002 00000000 00000000",
        b"",
    ),
    "done": (
        wire.PrototypeHeader(xid=XID, type=wire.PrototypeType.DONE),
        "12345678 00000001 00000001",
        b"",
    ),
}


@pytest.mark.parametrize("name", PROTOTYPE)
def test_prototype_round_trip(name):
    header, text, message = PROTOTYPE[name]
    assert wire.encode(header, message) == octets(text) + message
    assert wire.encoded_size(header) == len(octets(text))
    assert wire.decode(octets(text) + message, "prototype") == (header, message)
    assert wire.dialects(octets(text) + message) == ("prototype",)


def test_prototype_fault_names_code_offset_and_field():
    header = wire.PrototypeHeader(xid=XID, chunks=[ITEM, wire.PrototypeChunk(offset=92)])
    with pytest.raises(wire.DecodeError) as caught:
        wire.decode(wire.encode(header, CALL), "prototype")
    error = caught.value
    assert (error.code, error.offset, error.field) == ("bad_order", 40, "chunk list XDR offset")
    assert f"fault at {error}" in wire.describe(wire.encode(header, CALL), "prototype")


def test_a_wrong_value_is_named_with_its_path():
    header = wire.PrototypeHeader(chunks=[wire.PrototypeChunk(length=1 << 32)])
    with pytest.raises(ValueError, match=r"PrototypeHeader\.chunks\[0\]\.length: "):
        wire.encode(header)


def test_an_error_of_no_meaning_has_eight_words():
    header = wire.Header(xid=XID, credit=32, proc=wire.Procedure.ERROR, error=3, extra=range(8))
    header.extra = list(header.extra)
    message = wire.encode(header)
    assert len(message) == 52 == wire.encoded_size(header)
    assert wire.decode(message, "rfc5666") == (header, b"")
    with pytest.raises(wire.DecodeError, match="neither ERR_VERS nor ERR_CHUNK"):
        wire.decode(message)
    assert "rdma_extra 32 octets" in wire.describe(message, "rfc5666")


@pytest.mark.parametrize("words", [[], [0] * 7, [0] * 9])
def test_an_error_of_no_meaning_with_another_number_of_words_is_refused(words):
    header = wire.Header(proc=wire.Procedure.ERROR, error=3, extra=words)
    with pytest.raises(ValueError, match=r"Header\.(error|extra): "):
        wire.encode(header)


def test_done_is_a_message_of_rfc5666():
    message = wire.encode(wire.Header(xid=XID, credit=32, proc=wire.Procedure.DONE))
    assert wire.decode(message, "rfc5666")[0].proc == wire.Procedure.DONE
    assert wire.dialects(message) == ("rfc5666",)


def test_most_messages_are_the_same_in_both_documents():
    message = wire.encode(wire.Header(xid=XID, credit=32), CALL)
    assert wire.dialects(message) == ("rfc8166", "rfc5666")
    assert wire.dialects(message[:-1] + b"\3") == wire.dialects(message), "an rpcvers is no matter"
    assert wire.dialects(message[:-8]) == ()


def test_a_dialect_is_one_of_three():
    assert wire.DIALECTS == ("rfc8166", "rfc5666", "prototype")
    with pytest.raises(ValueError, match="no dialect 'rfc8267'"):
        wire.decode(b"", "rfc8267")


def test_arithmetic_of_rfc5666():
    assert wire.msgp_padding(4096, 1024, 136, 8192) == 3960
    assert wire.is_returned_length(8, 5) and not wire.is_returned_length(6, 5)
    assert wire.asks_for_inline([wire.Segment(length=0)])
    assert not wire.asks_for_inline([wire.Segment(length=1)])


def test_configuration_program():
    program = rpc.configuration
    assert (program.PROGRAM, program.VERSION, program.CONF_RDMA) == (100417, 1, 1)
    request = program.Request(maxcall_sendsize=4096, maxreply_sendsize=8192, maxrdmaread=8)
    assert request.encode() == octets("00001000 00002000 00000008")
    reply = program.Reply.decode(octets("00001000 00000040 00000000"))
    assert reply == program.Reply(maxcall_sendsize=4096, align=64, maxrdmaread=0)
    with pytest.raises(wire.DecodeError, match="offset 8, maxrdmaread: "):
        program.Reply.decode(octets("00001000 00000040"))


def test_the_judge_of_the_prototype_blames_the_sender():
    judge = conformance.PrototypeJudge(least_chunk_bytes=1024)
    assert isinstance(judge, trace.EventSink)
    judge.send(CLIENT, wire.encode(wire.PrototypeHeader(xid=XID), CALL))
    judge.send(SERVER, wire.encode(wire.PrototypeHeader(xid=XID), REPLY))
    assert judge.findings == []
    judge.send(CLIENT, octets(PROTOTYPE["done"][1]))
    (found,) = judge.findings
    assert (found.requirement.id, found.culprit) == ("CALLAGHAN2003-4.3.1-1", CLIENT)
    assert (found.event, found.rule) == (2, "prototype_done_answers_chunks")
    assert judge.dropped_findings == 0


def test_the_judge_of_rfc5666_takes_what_rfc8166_forbids():
    judge = conformance.Rfc5666Judge()
    pulled = wire.ReadSegment(96, wire.Segment(1, 4096, 2))
    judge.send(CLIENT, wire.encode(wire.Header(xid=XID, credit=32), CALL))
    judge.send(SERVER, wire.encode(wire.Header(xid=XID, credit=1, read_list=[pulled]), REPLY))
    done = wire.encode(wire.Header(xid=XID, credit=32, proc=wire.Procedure.DONE))
    judge.send(CLIENT, done)
    assert judge.findings == []
    judge.send(CLIENT, done)
    assert [found.requirement.id for found in judge.findings] == ["RFC5666-3.5-1"]


def test_a_grant_of_zero_counts_on_a_connection_that_is_seen_from_its_start():
    for from_start, rows in ((True, ["RFC5666-3.3-2"]), (False, [])):
        judge = conformance.Rfc5666Judge(from_start=from_start)
        judge.send(CLIENT, wire.encode(wire.Header(xid=XID, credit=32), CALL))
        judge.send(SERVER, wire.encode(wire.Header(xid=XID, credit=0), REPLY))
        assert [found.requirement.id for found in judge.findings] == rows
        assert judge.forgotten_calls == 0


def test_a_judge_takes_the_events_of_a_connection():
    for judge in (conformance.PrototypeJudge(), conformance.Rfc5666Judge()):
        trace.Recorder().replay(judge)
        assert judge.findings == []


def test_rows_say_which_rule_judges_captures():
    """A row of a superseded document that a rule cites says so, since no case can."""
    for rule in conformance.legacy_rules():
        row = ledger.find(rule.requirement.id)
        if row.exemption is not None:
            assert rule.name in row.exemption.why, rule

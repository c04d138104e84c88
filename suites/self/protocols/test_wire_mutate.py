"""Messages from Python: values change in place, octets round-trip, and errors name their place."""

import copy
import pickle

import pytest

from steertag import mutate, wire

XID = 0x12345678
CALL_START = wire.Writer().u32(XID).u32(0).u32(2).bytes()


def write_call():
    return wire.Header(
        xid=XID,
        credit=32,
        read_list=[wire.ReadSegment(96, wire.Segment(0xAABBCC01, 4096, 0x7F0000001000))],
        write_list=[[wire.Segment(0xAABBCC11, 4096, 1), wire.Segment(0xAABBCC12, 5, 2)], []],
        reply_chunk=[wire.Segment(0xAABBCC14, 8192, 3)],
    )


def test_header_round_trip():
    message = wire.encode(write_call(), CALL_START)
    assert wire.decode(message) == (write_call(), CALL_START)
    assert wire.encoded_size(write_call()) == len(message) - len(CALL_START)


def test_an_empty_reply_chunk_is_not_an_absent_one():
    header = wire.Header(proc=wire.Procedure.NOMSG, reply_chunk=[])
    assert wire.decode(wire.encode(header))[0].reply_chunk == []
    assert wire.decode(wire.encode(write_call()))[0].reply_chunk is not None


def test_lists_of_a_draft_change_in_place():
    draft = wire.draft_from(write_call(), CALL_START)
    legal = wire.encode(draft)
    assert legal == wire.encode(write_call(), CALL_START)
    draft.read_list.append(wire.DraftReadEntry(wire.ReadSegment(96, wire.Segment(1, 2, 3))))
    assert len(wire.encode(draft)) == len(legal) + 24
    draft.read_list[0].segment.target.length = 7
    draft.write_list[0].count = 0x10000000
    again = wire.draft_of(wire.encode(draft))
    assert [entry.segment.target.length for entry in again.read_list] == [7, 2]
    assert again.write_list[0].count == 0x10000000
    assert wire.encode(again) == wire.encode(draft)


def test_an_entry_that_was_taken_out_stays_usable():
    draft = wire.draft_from(write_call())
    entry = draft.read_list[0]
    draft.read_list.clear()
    draft.read_list.extend(copy.deepcopy(entry) for _ in range(100))
    entry.presence = 2
    assert [each.presence for each in draft.read_list] == [1] * 100


def test_decode_error_names_code_offset_and_field():
    draft = wire.draft_from(write_call(), CALL_START)
    draft.reply_chunk.count = 0xFFFFFFFF
    message = wire.encode(draft)
    with pytest.raises(wire.DecodeError) as caught:
        wire.decode(message)
    error = caught.value
    spans = [span for span in wire.fields(draft) if span.name == "reply chunk count"]
    assert (error.code, error.offset, error.field) == (
        "bad_count",
        spans[0].offset,
        "reply chunk count",
    )
    assert isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "fault at " + str(error) in wire.describe(message)


@pytest.mark.parametrize("value", [-1, 1 << 32, 1.5, "x", None])
def test_a_value_that_does_not_fit_is_named_with_its_path(value):
    draft = wire.draft_from(write_call())
    draft.write_list[0].segments[1].length = value
    path = r"Draft\.write_list\[0\]\.segments\[1\]\.length: "
    with pytest.raises((ValueError, TypeError), match=path):
        wire.encode(draft)


def test_a_list_of_the_wrong_things_is_refused():
    draft = wire.Draft(read_list=[wire.Segment()])
    with pytest.raises(
        TypeError, match=r"Draft\.read_list\[0\]: DraftReadEntry expected, not Segment"
    ):
        wire.encode(draft)


def test_private_data():
    octets = wire.encode(wire.PrivateData(True, 4096, 4096))
    assert octets.hex() == "f6ab0e1801010303"
    found = wire.find_private_data(b"\0\0\0" + octets)
    assert found.offset == 3 and found.data == wire.PrivateData(True, 4096, 4096)
    assert wire.find_private_data(octets[:7]) is None
    assert wire.negotiate(found.data, None) == wire.Negotiated(1024, 1024, False)


def test_reader_and_writer():
    writer = wire.Writer().u32(7).opaque(b"abcde").boolean(True).u64(1 << 40)
    reader = wire.Reader(writer.bytes())
    assert (reader.u32(), reader.opaque(), reader.boolean(), reader.u64()) == (
        7,
        b"abcde",
        True,
        1 << 40,
    )
    for _ in range(2):
        with pytest.raises(wire.DecodeError, match="offset 28, a name: the message ends"):
            reader.u32("a " + "name")


def test_peek_sees_what_no_decoder_accepts():
    assert wire.peek(b"\xff" * 16).proc == 0xFFFFFFFF
    assert wire.peek(b"\xff" * 15) is None


def test_variants_of_every_group():
    draft = wire.draft_from(write_call(), CALL_START)
    names = [variant.name for variant in mutate.generate_all(draft)]
    assert len(names) == len(set(names)) > 200
    by_group = [v.name for group in mutate.GROUPS for v in mutate.generate(group, draft)]
    assert by_group == names
    with pytest.raises(ValueError, match="no group 'nothing'"):
        mutate.generate("nothing", draft)


def test_a_variant_gives_its_message():
    draft = wire.draft_from(write_call(), CALL_START)
    variants = {variant.name: variant for variant in mutate.generate("count", draft)}
    variant = variants["write-chunk.count-0x10000000"]
    assert variant.expectation == "ERR_CHUNK"
    assert variant.draft.write_list[0].count == 0x10000000
    assert bytes(variant) == wire.encode(variant.draft)
    variant.draft.write_list.clear()
    assert variant.draft.write_list, "a variant must not change through its copies"


def test_a_mutation_is_applied_by_name():
    draft = wire.draft_from(write_call(), CALL_START)
    changed = mutate.mutated(draft, "version.9", "credit.0")
    assert (changed.vers, changed.credit) == (9, 0)
    assert (draft.vers, draft.credit) != (9, 0), "the draft must not change"
    variants = {variant.name: variant for variant in mutate.generate_all(draft)}
    name = "write-chunk.count-0x10000000"
    assert wire.encode(mutate.mutated(draft, name)) == bytes(variants[name])
    assert mutate.mutated(draft) == draft


@pytest.mark.parametrize("name", ["version.two", "error.code-3", "nothing"])
def test_a_mutation_that_does_not_apply_is_an_error(name):
    with pytest.raises(KeyError, match=name):
        mutate.mutated(wire.draft_from(write_call(), CALL_START), name)


def test_a_message_is_padded():
    draft = wire.draft_from(write_call(), CALL_START)
    octets = wire.encode(draft)
    assert wire.encode(mutate.padded(draft, 2000)) == octets + bytes(2000 - len(octets))


def test_private_data_variant_by_name():
    variant = mutate.private_data_variant("private-data.version-2")
    assert variant.bytes == bytes.fromhex("f6ab0e1802010303")
    with pytest.raises(KeyError, match="private-data.none"):
        mutate.private_data_variant("private-data.none")


def test_private_data_variants():
    for variant in mutate.private_data():
        found = wire.find_private_data(variant.bytes)
        assert (found and found.data) == variant.meaning, variant.name

"""Properties of the values of wire, rpc and nfs3: what is encoded decodes to the same.

Whatever octets are decoded, the only complaint is DecodeError."""

import dataclasses
import enum

import pytest

from steertag import nfs, rpc, wire

pytest.importorskip("hypothesis", reason="python3-hypothesis is not installed (ci/setup --check)")
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

nfs3 = nfs.nfs3
# The same examples in every run, and few enough that the file takes some seconds.
bounded = settings(
    derandomize=True,
    max_examples=100,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
per_procedure = settings(bounded, max_examples=40)
u8, u32, u64 = (st.integers(0, (1 << bits) - 1) for bits in (8, 32, 64))
octets = st.binary(max_size=200)
IDENTIFIER = wire.PRIVATE_DATA_IDENTIFIER.to_bytes(4, "big")

# -- values of wire --------------------------------------------------------------------------------

segments = st.builds(wire.Segment, u32, u32, u64)
chunks = st.lists(segments, max_size=3)
# Positions of a legal header are not looked at by the codec but for their alignment (RFC 8166 3.4.5).
read_segments = st.builds(
    wire.ReadSegment, st.integers(0, 0x3FFFFFFF).map(lambda words: 4 * words), segments
)
lists = {
    "xid": u32,
    "credit": u32,
    "read_list": st.lists(read_segments, max_size=3),
    "write_list": st.lists(chunks, max_size=3),
    "reply_chunk": st.none() | chunks,
}


def has_chunk(header):
    """What RDMA_NOMSG has to have (RFC 8166 4.2.4)."""
    return header.read_list or header.write_list or header.reply_chunk is not None


# (Header, octets behind it): each field only where its procedure carries it (RFC 8166 4.1.2).
messages = st.one_of(
    st.tuples(st.builds(wire.Header, **lists), octets),
    st.tuples(
        st.builds(wire.Header, proc=st.just(wire.Procedure.NOMSG), **lists).filter(has_chunk),
        st.just(b""),
    ),
    st.tuples(
        st.builds(wire.Header, proc=st.just(wire.Procedure.MSGP), align=u32, thresh=u32, **lists),
        octets,
    ),
    st.tuples(
        st.builds(wire.Header, xid=u32, credit=u32, proc=st.just(wire.Procedure.ERROR)),
        st.just(b""),
    ),
    st.tuples(
        st.builds(
            wire.Header,
            **{"xid": u32, "vers": u32, "credit": u32, "vers_low": u32, "vers_high": u32},
            proc=st.just(wire.Procedure.ERROR),
            error=st.just(wire.ErrorCode.VERS),
        ),
        st.just(b""),
    ),
)
words = u32 | st.integers(0, 5)
draft_chunks = st.builds(
    wire.DraftChunk, chunks, count=st.none() | words, presence=words, omit_body=st.booleans()
)
drafts = st.builds(
    wire.Draft,
    **{field: words for field in ("xid", "vers", "credit", "proc", "align", "thresh", "error")},
    **{field: words for field in ("vers_low", "vers_high", "read_list_end", "write_list_end")},
    read_list=st.lists(
        st.builds(
            wire.DraftReadEntry,
            st.builds(wire.ReadSegment, u32, segments),
            presence=words,
            omit_body=st.booleans(),
        ),
        max_size=3,
    ),
    write_list=st.lists(draft_chunks, max_size=3),
    reply_chunk=st.none() | draft_chunks,
    reply_chunk_absent=words,
    payload=octets,
    cut_to=st.none() | st.integers(0, 300),
    append=octets,
)
sizes = st.integers(1, 256).map(lambda units: 1024 * units)
private_data = st.builds(wire.PrivateData, st.booleans(), sizes, sizes)


@bounded
@given(messages)
def test_headers_round_trip(message):
    header, payload = message
    encoded = wire.encode(header, payload)
    assert wire.decode(encoded) == (header, payload)
    assert wire.encoded_size(header) == len(encoded) - len(payload)
    assert wire.encode(wire.draft_from(header, payload)) == encoded


@bounded
@given(drafts)
def test_drafts_round_trip_by_their_octets(draft):
    encoded = wire.encode(draft)
    assert wire.encode(wire.draft_of(encoded)) == encoded
    whole = dataclasses.replace(draft, cut_to=None, append=b"")
    spans = wire.fields(draft)
    assert sum(span.length for span in spans) == len(wire.encode(whole)) - len(draft.payload)


@bounded
@given(private_data, st.binary(max_size=40), octets)
def test_private_data_round_trips_at_any_offset(data, before, after):
    buffer = before + wire.encode(data) + after
    assume(buffer.find(IDENTIFIER) == len(before))
    found = wire.find_private_data(buffer)
    assert (found.offset, found.data) == (len(before), data)


@bounded
@given(st.builds(wire.PrivateDataDraft, u32, u8, u8, u8, u8))
def test_private_data_drafts_are_their_octets(draft):
    encoded = wire.encode(draft)
    assert encoded[:4] == draft.identifier.to_bytes(4, "big")
    assert tuple(encoded[4:]) == (draft.version, draft.flags, draft.send_size, draft.receive_size)


# -- values of rpc ---------------------------------------------------------------------------------

flavors = st.sampled_from(rpc.AuthFlavor) | u32
auths = st.builds(rpc.OpaqueAuth, flavors, st.binary(max_size=rpc.MOST_AUTH_OCTETS))
calls = st.builds(
    rpc.Call,
    **{field: u32 for field in ("xid", "program", "version", "procedure")},
    **{field: auths for field in ("credential", "verifier")},
)
ranges = st.builds(rpc.VersionRange, u32, u32)
# Each arm with the fields that it carries (RFC 5531 9).
replies = st.one_of(
    st.builds(
        rpc.Reply,
        xid=u32,
        verifier=auths,
        accept_status=st.sampled_from(
            [status for status in rpc.AcceptStatus if status != rpc.AcceptStatus.PROG_MISMATCH]
        ),
    ),
    st.builds(
        rpc.Reply,
        xid=u32,
        verifier=auths,
        accept_status=st.just(rpc.AcceptStatus.PROG_MISMATCH),
        mismatch=ranges,
    ),
    st.builds(
        rpc.Reply,
        xid=u32,
        status=st.just(rpc.MSG_DENIED),
        reject_status=st.just(rpc.RPC_MISMATCH),
        mismatch=ranges,
    ),
    st.builds(
        rpc.Reply,
        xid=u32,
        status=st.just(rpc.MSG_DENIED),
        reject_status=st.just(rpc.AUTH_ERROR),
        auth_status=st.sampled_from(rpc.AuthStatus),
    ),
)


@bounded
@given(st.one_of(calls, replies), octets)
def test_rpc_messages_round_trip(message, body):
    assert type(message).decode(message.encode(body)) == (message, body)


@bounded
@given(st.lists(octets, min_size=1, max_size=4), st.integers(1, 300), st.integers(1, 300))
def test_records_come_out_of_any_pieces(records, fragment, piece):
    stream = b"".join(rpc.record(each, fragment_octets=fragment) for each in records)
    reader = rpc.RecordReader()
    found = []
    for start in range(0, len(stream), piece):
        found += reader.feed(stream[start : start + piece])
    assert found == records and not reader.mid_record


# -- values of nfs3 --------------------------------------------------------------------------------

# Octets that are no UTF-8 travel as surrogates.
names = st.binary(max_size=60).map(lambda name: name.decode("utf-8", "surrogateescape"))
LONG_FIELDS = {"offset", "cookie", "size"}
VERIFIERS = {"verf", "cookieverf"}


def value_of(name, kind):
    """Values of a field with this name and type."""
    if dataclasses.is_dataclass(kind):
        return UNIONS[kind] if kind in UNIONS else structs(kind)
    if issubclass(kind, enum.Enum):
        return st.sampled_from(kind)
    if kind is int:
        return u64 if name in LONG_FIELDS else u32
    if kind is str:
        return names
    return st.binary(min_size=8, max_size=8) if name in VERIFIERS else st.binary(max_size=64)


def structs(kind, **given_fields):
    """Values of a data class."""
    fields = {field.name: field.type for field in dataclasses.fields(kind)}
    made = {name: value_of(name, fields[name]) for name in fields if name not in given_fields}
    return st.builds(kind, **made, **given_fields)


def arm(kind, **given_fields):
    """Values of one arm of a union: the fields of the other arms keep their defaults."""
    return st.builds(kind, **given_fields)


# Data classes with a discriminant: an arm carries some of the fields only (RFC 1813 2.5, 2.6).
UNIONS = {}
UNIONS[nfs3.SetTime] = st.one_of(
    arm(nfs3.SetTime, set_it=st.sampled_from([nfs3.DONT_CHANGE, nfs3.SET_TO_SERVER_TIME])),
    arm(nfs3.SetTime, set_it=st.just(nfs3.SET_TO_CLIENT_TIME), time=structs(nfs3.Time)),
)
attributes = UNIONS[nfs3.Sattr] = structs(
    nfs3.Sattr,
    **{field: st.none() | u32 for field in ("mode", "uid", "gid")},
    size=st.none() | u64,
)
UNIONS[nfs3.CreateHow] = st.one_of(
    arm(
        nfs3.CreateHow,
        mode=st.sampled_from([nfs3.UNCHECKED, nfs3.GUARDED]),
        obj_attributes=attributes,
    ),
    arm(nfs3.CreateHow, mode=st.just(nfs3.EXCLUSIVE), verf=st.binary(min_size=8, max_size=8)),
)
UNIONS[nfs3.MknodData] = st.one_of(
    structs(nfs3.MknodData, type=st.sampled_from([nfs3.NF3CHR, nfs3.NF3BLK])),
    arm(
        nfs3.MknodData,
        type=st.sampled_from([nfs3.NF3SOCK, nfs3.NF3FIFO]),
        attributes=attributes,
    ),
    arm(nfs3.MknodData, type=st.sampled_from([nfs3.NF3REG, nfs3.NF3DIR, nfs3.NF3LNK])),
)
UNIONS[nfs3.SetattrArgs] = structs(nfs3.SetattrArgs, guard=st.none() | structs(nfs3.Time))
PROCEDURES = [each.name for each in nfs3.Procedure if each.name != "NULL"]


def arguments_of(name):
    return value_of("", getattr(nfs3, f"{name.capitalize()}Args"))


@pytest.mark.parametrize("name", PROCEDURES)
@per_procedure
@given(data=st.data())
def test_nfs_arguments_round_trip(name, data):
    arguments = data.draw(arguments_of(name))
    encoded = nfs3.encode_args(name, arguments)
    assert nfs3.decode_args(name, encoded) == arguments
    assert len(encoded) % 4 == 0


# -- any octets ------------------------------------------------------------------------------------


@st.composite
def damaged(draw, valid):
    """Octets that some of a valid message is left of, so that decoders get beyond its start."""
    message = draw(valid)
    start = draw(st.integers(0, len(message)))
    end = draw(st.integers(start, len(message)))
    return message[:start] + draw(st.binary(max_size=24)) + message[end:]


def decodes_or_says_so(decode, message):
    """Any other exception fails the test."""
    try:
        return decode(message)
    except wire.DecodeError as error:
        assert error.code and 0 <= error.offset <= len(message)
        return None


encoded_messages = messages.map(lambda message: wire.encode(*message))


@bounded
@given(octets | damaged(encoded_messages) | drafts.map(wire.encode))
def test_any_octets_as_a_message(message):
    decoded = decodes_or_says_so(wire.decode, message)
    if decoded is not None:
        assert wire.encode(*decoded) == message
    assert wire.encode(wire.draft_of(message)) == message
    assert (wire.peek(message) is None) == (len(message) < wire.FIXED_BYTES)
    assert wire.describe(message)


@bounded
@given(octets | damaged(private_data.map(wire.encode)))
def test_any_octets_as_private_data(buffer):
    found = wire.find_private_data(buffer)
    assert found is None or buffer[found.offset :].startswith(IDENTIFIER)


@bounded
@given(octets | damaged(st.one_of(calls, replies).map(lambda message: message.encode())))
def test_any_octets_as_an_rpc_message(payload):
    decodes_or_says_so(rpc.Call.decode, payload)
    decodes_or_says_so(rpc.Reply.decode, payload)
    decodes_or_says_so(rpc.AuthSys.decode, payload)
    decodes_or_says_so(rpc.RecordReader(record_limit=100).feed, payload)
    decodes_or_says_so(nfs.binding.eligible_argument, payload)
    decodes_or_says_so(nfs.largest_reply, payload)
    assert (rpc.xid(payload) is None) == (len(payload) < 4)


@pytest.mark.parametrize("name", PROCEDURES)
@per_procedure
@given(data=st.data())
def test_any_octets_as_nfs_arguments_and_results(name, data):
    encoded = arguments_of(name).map(lambda arguments: nfs3.encode_args(name, arguments))
    body = data.draw(octets | damaged(encoded))
    decodes_or_says_so(lambda octets: nfs3.decode_args(name, octets), body)
    decodes_or_says_so(lambda octets: nfs3.decode_result(name, octets), body)
    call = rpc.Call(xid=1, program=nfs3.PROGRAM, version=3, procedure=nfs3.Procedure[name])
    decodes_or_says_so(nfs.binding.eligible_argument, call.encode(body))

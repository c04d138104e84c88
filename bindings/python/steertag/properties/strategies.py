"""Strategies of hypothesis for messages: headers, legal or not, chunk lists, private data.

They give values of steertag.wire, for tests with or without a target."""

import itertools

from hypothesis import strategies as st

from .. import wire

# Words with a meaning in some field; others are added at random.
u32 = st.integers(0, 0xFFFFFFFF)
u64 = st.integers(0, (1 << 64) - 1)
words = st.sampled_from([0, 1, 2, 3, 4, 5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]) | u32
# Entries of a list and segments of a chunk: enough for every rule about "more than one".
MOST_ENTRIES = 4
# Octets of payloads, and of trailing data.
MOST_PAYLOAD = 200
# Octets of private data that every provider carries.
MOST_PRIVATE_DATA = 56

segments = st.builds(wire.Segment, words, words, u64)
chunks = st.lists(segments, max_size=MOST_ENTRIES)
read_segments = st.builds(wire.ReadSegment, words, segments)
draft_read_entries = st.builds(
    wire.DraftReadEntry,
    read_segments,
    presence=st.just(1) | words,
    omit_body=st.booleans(),
)
draft_chunks = st.builds(
    wire.DraftChunk,
    chunks,
    count=st.none() | words,
    presence=st.just(1) | words,
    omit_body=st.booleans(),
)
octets = st.binary(max_size=MOST_PAYLOAD)


def chunk_lists(entries=draft_read_entries, chunk=draft_chunks):
    """Fields of a draft: its three lists and their end markers."""
    return st.fixed_dictionaries(
        {},
        optional={
            "read_list": st.lists(entries, max_size=MOST_ENTRIES),
            "write_list": st.lists(chunk, max_size=MOST_ENTRIES),
            "reply_chunk": chunk,
            "read_list_end": words,
            "write_list_end": words,
            "reply_chunk_absent": words,
        },
    )


def fixed_fields():
    """Fields of a draft that every message has, and those of RDMA_MSGP and RDMA_ERROR."""
    names = ("xid", "vers", "credit", "proc", "align", "thresh", "error", "vers_low", "vers_high")
    return st.fixed_dictionaries({}, optional={name: words for name in names})


def endings():
    """Fields of a draft that say where the message ends."""
    return st.fixed_dictionaries(
        {}, optional={"payload": octets, "cut_to": st.integers(0, 300), "append": octets}
    )


@st.composite
def changes(draw):
    """Changed fields of a legal message: one group of fields, or two."""
    groups = st.sampled_from([fixed_fields, chunk_lists, endings])
    changed = {}
    for group in draw(st.lists(groups, min_size=1, max_size=2, unique=True)):
        changed |= draw(group())
    return changed


drafts = st.builds(
    lambda fixed, lists, ending: wire.Draft(**fixed, **lists, **ending),
    fixed_fields(),
    chunk_lists(),
    endings(),
)
# Thresholds that RFC 8797 4 can express.
inline_bytes = st.sampled_from([1024, 2048, 4096, 8192, 65536, 262144])
legal_private_data = st.builds(wire.PrivateData, st.just(False), inline_bytes, inline_bytes)
u8 = st.integers(0, 0xFF)
identifiers = st.just(wire.PRIVATE_DATA_IDENTIFIER) | u32
private_data_drafts = st.builds(wire.PrivateDataDraft, identifiers, st.just(1) | u8, u8, u8, u8)


@st.composite
def private_data(draw):
    """Octets of private data: an announcement at any offset, with other octets around it, cut or
    whole."""
    before = draw(st.binary(max_size=20))
    said = wire.encode(draw(private_data_drafts))
    after = draw(st.binary(max_size=20))
    whole = before + said + after
    return whole[: draw(st.just(len(whole)) | st.integers(0, len(whole)))][:MOST_PRIVATE_DATA]


# Octets of the fragments of one record; an empty fragment is legal (RFC 5531 11).
fragments = st.lists(st.integers(0, 60), max_size=MOST_ENTRIES)


@st.composite
def sizes(draw, length):
    """Sizes of segments, with empty ones among them, that hold `length` octets together."""
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=MOST_ENTRIES - 1)))
    return _between(cuts, length)


def _between(cuts, length):
    """The sizes of the parts between sorted cuts of `length` octets."""
    ends = [*cuts, length]
    return [end - start for start, end in zip([0, *ends], ends)]


# Lengths at which servers change their way: words, pages, thresholds, the largest segments of some devices.
EDGES = (1, 4, 1024, 4096, 8192, 65536)
# The same where a transfer takes a server long: what READ and WRITE may have, and the largest that others know.
LARGE_EDGES = (1 << 20, 2 << 20, 4 << 20, 16 << 20)


@st.composite
def edge_lengths(draw, smallest=1, large=False):
    """A length at an edge or an octet beside it, or any other below 64 KiB. `large`: at a large edge, or beside it."""
    beside = draw(st.sampled_from(LARGE_EDGES if large else EDGES)) + draw(st.integers(-1, 1))
    if large:
        return beside
    return max(smallest, draw(st.just(beside) | st.integers(1, EDGES[-1])))


@st.composite
def edge_sizes(draw, length):
    """Sizes of segments that hold `length` octets together. Cuts are likely at an edge, or beside it."""
    edges = (*EDGES, *LARGE_EDGES)
    places = [edge + near for edge in edges for near in (-1, 0, 1) if edge + near <= length]
    cut = st.integers(0, length) | st.sampled_from(places or [length])
    cuts = sorted(draw(st.lists(cut, max_size=MOST_ENTRIES - 1)))
    return _between(cuts, length)


def first_octets(sizes, length):
    """The sizes as far as the first `length` octets go."""
    starts = itertools.accumulate(sizes, initial=0)
    pairs = [(start, size) for start, size in zip(starts, sizes) if start < length]
    return [min(size, length - start) for start, size in pairs]

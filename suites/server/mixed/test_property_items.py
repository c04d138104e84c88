"""Generated COMPOUNDs with one eligible item or two, of files and of symbolic links, at any threshold.

Their forms and lengths are generated. See steertag.properties."""

from hypothesis import strategies as st

from steertag.properties.strategies import edge_lengths, edge_sizes, EDGES
from steertag.suite import case

WRITTEN, LINK_MADE = "RFC8267-6.1-1", "RFC8267-6.1-2"
READ, LINK_READ = "RFC8267-6.1-3", "RFC8267-6.1-4"
TRIALS = 48
MOST_ITEMS = 2
LINK_LENGTHS = (1, 3, 4, 5, 255, 256, 1000, 1023)
THRESHOLDS = (1024, 4096, 262144)
# Octets of a reply beside its items.
BESIDE_ITEMS = 4096
CLIENT = "steertag.suite.nfs_client.nfs4_client"
COMPOUND = "steertag.suite.nfs_client.compound"
# Octets of a reply chunk above those of the items.
SPARE = [BESIDE_ITEMS + near for near in (-4, -1, 0, 1, 4)] + [EDGES[-1]]
LINK = "{'type': nfs.nfs4.FileType.NF4LNK, 'linkdata': text%d}"


@st.composite
def items(draw):
    """Items as a dictionary: what they are, how they go to the server, and how they come back."""
    kinds = draw(st.lists(st.sampled_from(["data", "link"]), min_size=1, max_size=MOST_ITEMS))
    short = st.sampled_from(LINK_LENGTHS)
    lengths = [draw(edge_lengths() if kind == "data" else short) for kind in kinds]
    more = draw(st.sampled_from([0, 0, 1, 3, 4]))
    return {
        "kinds": kinds,
        "lengths": lengths,
        "threshold": draw(st.sampled_from(THRESHOLDS)),
        "pulled": [draw(edge_sizes(length)) for length in lengths],
        "is_long": draw(st.booleans()),
        "asks_long": draw(st.booleans()),
        "in_reply_chunk": draw(st.booleans()),
        # RFC 8267 6.4.2: a chunk has room for the largest text of a link.
        "rooms": [draw(edge_sizes(length + more)) for length in lengths],
        "reply_sizes": draw(edge_sizes(sum(lengths) + draw(st.sampled_from(SPARE)))),
    }


@case(
    "server.property.compound-items",
    requirements=[WRITTEN, LINK_MADE, READ, LINK_READ],
    needs=["nfs41", "multiple-read-chunks"],
)
def test_compound_items(explorer):
    """WRITEs, and CREATEs of symbolic links, with their items in read chunks, one or two in a COMPOUND, in calls that
    are long or not. Then READs and READLINKs with write chunks, or a reply chunk. Thresholds are 1024, 4096 or
    262144. What was written is read."""

    def write(script, value):
        script.do(f"from {CLIENT} import putfh, read, write")
        script.do(f"from {COMPOUND} import operation")
        size = value["threshold"]
        script.do(f"announced = wire.PrivateData(send_bytes={size}, receive_bytes={size})")
        script.do("session = bench.nfs4_session(bench.connect(private_data=announced))")
        script.do("conn, files = session.conn, bench.nfs4_files(session)")
        made = [_make(script, *item) for item in enumerate(zip(value["kinds"], value["lengths"]))]
        script.do(f"call = session.call({', '.join(made)})")
        script.do(f"conn.reduce_each(call, {value['pulled']})")
        _send(script, value["is_long"])
        owed = WRITTEN if "data" in value["kinds"] else LINK_MADE
        script.do(f'expect(outcome, "{owed}", must=[kinds.REPLY])')
        _note_made(script, value["kinds"])
        asked = [_ask(*item) for item in enumerate(zip(value["kinds"], value["lengths"]))]
        script.do(f"call = session.call({', '.join(asked)})")
        if value["in_reply_chunk"]:
            script.do(f"conn.reply_chunk(call, sizes={value['reply_sizes']})")
        else:
            for room in value["rooms"]:
                script.do(f"conn.write_chunk(call, sizes={room})")
        _send(script, value["asks_long"])
        owed = READ if "data" in value["kinds"] else LINK_READ
        script.do(f'expect(outcome, "{owed}", must=[kinds.REPLY])')
        _compare(script, value["kinds"])

    explorer.examples(items(), write, TRIALS)


def _make(script, number, item):
    """The operations that write an item, as source."""
    kind, length = item
    if kind == "link":
        script.do(f"name{number}, text{number} = bench.name('made'), 'y' * {length}")
        script.do(
            f"made{number} = operation('CREATE', objtype={LINK % number}, objname=name{number}, "
            "createattrs=nfs.nfs4.fattr(mode=0o777))"
        )
        return f"putfh(files.directory), made{number}, 'GETFH'"
    script.do(f"file{number} = files.file()")
    script.do(f"data{number} = random.Random({number}).randbytes({length})")
    return f"putfh(file{number}), write(data{number})"


def _ask(number, item):
    """The operations that read it again, as source."""
    kind, length = item
    if kind == "link":
        return f"putfh(link{number}), 'READLINK'"
    return f"putfh(file{number}), read({length})"


def _send(script, is_long):
    """Sends the call. One that fits no Send is long in any case."""
    fits = script.value("len(call.encoded()) <= conn.negotiated.to_server_bytes")
    if is_long or not fits:
        script.do("conn.long_call(call)")
    script.do("outcome = conn.exchange(call)")


def _of_kind(kinds, kind):
    """(number among all, number among those of this kind)"""
    return [(number, at) for at, number in enumerate(n for n, k in enumerate(kinds) if k == kind)]


def _note_made(script, kinds):
    for number, at in _of_kind(kinds, "data"):
        script.do(f"count = outcome.result.all('WRITE')[{at}].resok4.count")
        script.do(f"stored{number} = data{number}[:count]")
    for number, at in _of_kind(kinds, "link"):
        script.do(f"link{number} = outcome.result.all('GETFH')[{at}].resok4.object")


def _compare(script, kinds):
    for number, at in _of_kind(kinds, "data"):
        script.do(f"found = outcome.result.all('READ')[{at}].resok4")
        script.do(f"wanted = stored{number}")
        script.do("wanted = wanted if found.eof else wanted[:len(found.data)]")
        script.do(f'expect.data(found.data, wanted, "{READ}", "octets of file {number}")')
    for number, at in _of_kind(kinds, "link"):
        script.do(f"found = outcome.result.all('READLINK')[{at}].resok4.link")
        what = f"text of link {number}"
        script.do(f'expect.equal(found, text{number}, "{LINK_READ}", "{what}", outcome=outcome)')

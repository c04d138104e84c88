"""Chunk lists of a client's calls: which chunks there are, for which items, and how long."""

from steertag import nfs, wire


def read_chunks(header):
    """{position: octets} of a call's read chunks, without that of a long call."""
    chunks = {}
    for entry in header.read_list:
        if entry.position:
            chunks[entry.position] = chunks.get(entry.position, 0) + entry.target.length
    return dict(sorted(chunks.items()))


def reduced(outcome):
    """[(Sent, {position: octets})]: its calls with read chunks and the rest of the call in the Send."""
    calls = [sent for _, sent in outcome.calls if sent.header.proc == wire.Procedure.MSG]
    return [(sent, read_chunks(sent.header)) for sent in calls if read_chunks(sent.header)]


def lengths(sent, chunks):
    """[(octets of the chunk, octets of its item)]: the word before the place where a chunk belongs."""
    gone, found = 0, []
    for position, octets in chunks.items():
        at = position - gone - 4
        length = int.from_bytes(sent.payload[at : at + 4], "big")
        gone += -(-length // 4) * 4
        found.append((octets, length))
    return found


def largest_results(call):
    """The octets of the largest DDP-eligible results that a call asks for, in order."""
    try:
        compound = nfs.largest_compound_reply(call)
        if compound is not None:
            return list(compound.eligible)
        single = nfs.largest_reply(call)
    except wire.DecodeError:
        return []
    return [single.eligible] if single is not None and single.eligible else []


def rooms(outcome):
    """[(octets of a write chunk, octets of the largest result for it)] of all calls. A chunk without
    segments asks for its result inline (RFC 8166 4.3.2.3)."""
    found = []
    for _, sent in outcome.calls:
        if sent.header.proc == wire.Procedure.MSG and not sent.header.read_list:
            results = largest_results(sent.payload)
            for chunk, largest in zip(sent.header.write_list, results):
                if len(chunk):
                    found.append((sum(segment.length for segment in chunk), largest))
    return found

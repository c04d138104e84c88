"""The RPC-over-RDMA header in words: procedure, XID, credits, and the chunks with their lengths."""

from .. import wire
from .chunk_offers import read_chunks

# Segments of a chunk, and chunks of a list, whose lengths are shown.
MOST_SEGMENTS, MOST_CHUNKS = 4, 4


def header_words(header):
    """A wire.Header in one line."""
    parts = [_fixed(int(header.proc), header.xid, header.credit)]
    if header.proc == wire.Procedure.ERROR:
        parts.append(_error(header))
    if header.proc == wire.Procedure.MSGP:
        parts[0] += f" align {header.align} thresh {header.thresh}"
    parts += _chunks(header)
    return "; ".join(parts)


def broken_header(octets, fault):
    """What can be said of octets whose header does not decode, and where it breaks."""
    fixed = wire.peek(octets)
    where = f"the header breaks at octet {fault.offset}: {fault.field}: {_sentence(fault)}"
    if fixed is None:
        return f"no header in {counted(len(octets), 'octet')}; {where}"
    version = "" if fixed.vers == wire.VERSION else f" vers {fixed.vers}"
    return f"{_fixed(fixed.proc, fixed.xid, fixed.credit)}{version}; {where}"


def counted(number, word):
    """ "1 octet", "2 octets" """
    return f"{number} {word}{'' if number == 1 else 's'}"


def _sentence(fault):
    """The fault without its place, which DecodeError puts in front."""
    return str(fault).partition(": ")[2] or str(fault)


def _fixed(proc, xid, credit):
    return f"{wire.procedure_name(proc)} xid 0x{xid:08x} credits {credit}"


def _error(header):
    if header.error == wire.ErrorCode.VERS:
        return f"ERR_VERS low {header.vers_low} high {header.vers_high}"
    return "ERR_CHUNK" if header.error == wire.ErrorCode.CHUNK else f"rdma_err {header.error}"


def _chunks(header):
    reads = [
        (f"read chunk at position {position}" if position else "position-zero chunk", segments)
        for position, segments in read_chunks(header)
    ]
    writes = [
        (f"write chunk {number}", segments)
        for number, segments in enumerate(header.write_list, start=1)
    ]
    reply = [] if header.reply_chunk is None else [("reply chunk", header.reply_chunk)]
    for word, chunks in (("read chunk", reads), ("write chunk", writes), ("reply chunk", reply)):
        yield from (f"{name}: {_lengths(segments)}" for name, segments in chunks[:MOST_CHUNKS])
        if len(chunks) > MOST_CHUNKS:
            yield f"{counted(len(chunks) - MOST_CHUNKS, f'more {word}')}"


def _lengths(segments):
    lengths = [each.length for each in segments]
    if not lengths:
        return "no segment"
    shown = ", ".join(map(str, lengths[:MOST_SEGMENTS]))
    head = f"{counted(len(lengths), 'segment')} of {shown}"
    if len(lengths) > MOST_SEGMENTS:
        return f"{head}, ...: {sum(lengths)} octets"
    return f"{head} octet{'' if lengths == [1] else 's'}"

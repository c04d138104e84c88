"""Decoded lines as a page takes them."""

from ..traces.line import ChunkReference

# Of `chunks`: the same for segments of one chunk, wherever its header or an RDMA Write names it.
_CHUNK = "{kind} {xid:08x} {chunk}"


def page_lines(rows):
    """The lines for a page. `rows` are those of Line.row() and of report.json. A line has `number`, `connection`, `time`,
    `direction`, `kind`, `text`; `chunks` are [key, name, octets], `violations` are [id, text, by the target].
    """
    return [_line(row) for row in rows]


def _line(row):
    line = {
        name: row.get(name, "") for name in ("number", "connection", "direction", "kind", "text")
    }
    line["time"] = row.get("time_s")
    chunks = [ChunkReference(**each) for each in row.get("chunks", ())]
    line["chunks"] = [
        [_CHUNK.format(kind=each.kind, xid=each.xid, chunk=each.chunk), each.name, each.length]
        for each in chunks
    ]
    line["violations"] = [
        [each["requirement"], each.get("text", ""), each.get("by_target", True)]
        for each in row.get("violations", ())
    ]
    return line

"""The records in octets that a stream got at once (RFC 5531 11)."""

from .. import rpc, wire


def whole_records(octets):
    """([record], whether part of another one follows) of octets that begin with a record; ([], False) if they do not."""
    reader = rpc.RecordReader()
    try:
        records = reader.feed(octets)
    except wire.DecodeError:
        return [], False
    return records, bool(records) and reader.mid_record

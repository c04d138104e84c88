"""Records in octets that a stream got at once (RFC 5531 11)."""

_LAST = 1 << 31
_MARK_BYTES = 4
# A record with less has no XID.
_SHORTEST = 4


def whole_records(octets):
    """([record], the octets behind the last one) of octets that begin with a record; ([], octets) if they do not."""
    records, fragments, place, end = [], b"", 0, 0
    while place + _MARK_BYTES <= len(octets):
        mark = int.from_bytes(octets[place : place + _MARK_BYTES], "big")
        length = mark & ~_LAST
        if place + _MARK_BYTES + length > len(octets):
            break
        fragments += octets[place + _MARK_BYTES : place + _MARK_BYTES + length]
        place += _MARK_BYTES + length
        if mark & _LAST:
            if len(fragments) < _SHORTEST:
                break
            records.append(fragments)
            fragments, end = b"", place
    return records, octets[end:]

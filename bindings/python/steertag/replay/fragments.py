"""Changes to records of a TCP stream that keep their fragments (RFC 5531 11)."""

_LAST_FRAGMENT = 1 << 31


def in_fragments(octets, change):
    """The octets with `change` applied to the record that their fragments hold: it keeps the length. What is
    no whole record is changed as it stands."""
    parts = _parts(octets)
    if parts is None:
        return change(octets)
    record = change(b"".join(part for _, part in parts))
    made, start = b"", 0
    for mark, part in parts:
        made += mark + record[start : start + len(part)]
        start += len(part)
    return made


def _parts(octets):
    """[(mark, fragment)] of one record; None if the octets are anything else."""
    parts, position = [], 0
    while position < len(octets):
        mark = octets[position : position + 4]
        word = int.from_bytes(mark, "big")
        fragment = octets[position + 4 : position + 4 + word % _LAST_FRAGMENT]
        if len(mark) < 4 or len(fragment) < word % _LAST_FRAGMENT:
            return None
        parts.append((mark, fragment))
        position += 4 + len(fragment)
        if word & _LAST_FRAGMENT:
            return parts if position == len(octets) else None
    return None

"""What both sides of a connection over iWARP have agreed on, by the octets of its startup."""

from ... import trace

# A startup frame (RFC 5044 7.1.1): a key, and an octet of flags behind it.
_KEYS = {trace.Role.client: b"MPA ID Req Frame", trace.Role.server: b"MPA ID Rep Frame"}
_CRC = 0x40


def has_crc(capture):
    """Whether FPDUs have a CRC: one frame that asks for it is enough (RFC 5044 7.1). None where the capture has no
    startup of MPA."""
    octets_of = getattr(capture, "octets", None)
    if octets_of is None:
        return None
    flags = []
    for role, key in _KEYS.items():
        octets = bytes(octets_of(role)[: len(key) + 1])
        if len(octets) <= len(key) or not octets.startswith(key):
            return None
        flags.append(octets[len(key)])
    return any(each & _CRC for each in flags)

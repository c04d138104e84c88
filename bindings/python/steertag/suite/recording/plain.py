"""Values as a recording holds them: JSON types and octets."""

import enum


class CannotKeep(Exception):
    """A value that is no number, text, octets, or list of them; one sentence."""


def as_plain(value):
    """The value in types that compare and store alike: enumerations as numbers, tuples as lists."""
    if value is None or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value, enum.Enum) and not isinstance(value, int):
        return as_plain(value.value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = [as_plain(each) for each in value]
        return sorted(parts, key=repr) if isinstance(value, (set, frozenset)) else parts
    if isinstance(value, dict):
        return {str(key): as_plain(each) for key, each in value.items()}
    raise CannotKeep(f"a case uses a {type(value).__name__}, which a recording cannot hold")

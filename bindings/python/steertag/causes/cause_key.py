"""What makes two causes the same: their texts without the values that differ in each run."""

import re

# Of clauses, numbers stay: "RFC 5040 5.3" is another cause than "RFC 5040 5.4".
_CLAUSE = r"\b(?:RFC ?\d+(?:[ -][\d.]*\d)?(?:-\w+)?|IBA-[\w.]+-\d+|ODAFS-\d+)"
# XIDs, handles, offsets and octets in hex; then counts and lengths.
_NUMBER = r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)[0-9a-f]{8}\b|\b\d[\d,]*\b"
_VALUES = re.compile(f"({_CLAUSE})|{_NUMBER}")
_REQUIREMENT = re.compile(r"((?:RFC\d+|IBA)-[\w.]+-\w+|ODAFS-\d+): ")


def normalised(text):
    """The text with N in place of each number."""
    return _VALUES.sub(lambda found: found[1] or "N", text)


def split_reason(reason):
    """(requirement id, rest) of the reason of a case, or ("", reason)."""
    found = _REQUIREMENT.match(reason)
    return (found[1], reason[found.end() :]) if found else ("", reason)

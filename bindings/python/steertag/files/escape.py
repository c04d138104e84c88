"""Names that cannot harm a terminal."""


def printable(name):
    """The name with escapes for the backslash and for all that is not printable. A server's names
    may hold control sequences, line ends and octets that are no UTF-8."""
    if name.isprintable() and "\\" not in name:
        return name
    return "".join(_escaped(character) for character in name)


def _escaped(character):
    if character == "\\":
        return "\\\\"
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # an octet that is no UTF-8, as os.fsdecode keeps it
        return f"\\x{code - 0xDC00:02x}"
    return "".join(f"\\x{octet:02x}" for octet in character.encode("utf-8", "surrogatepass"))

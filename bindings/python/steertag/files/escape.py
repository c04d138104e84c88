"""Names and texts of others that cannot harm a terminal, a report, a file or the log of a CI service."""

import re

# What a runner of GitHub obeys: `##[add-mask]` anywhere in a line, `::add-mask::` at its beginning.
_ANYWHERE = re.compile(r"#(?=#\[)")
_AT_BEGINNING = re.compile(r"^(\s*):(?=:)", re.MULTILINE)


def printable(name):
    """The name with escapes for the backslash and for all that is not printable. A server's names
    may hold control sequences, line ends and octets that are no UTF-8."""
    return _escaped(name.replace("\\", "\\\\"))


def harmless(text):
    """The text as one line, with escapes for all that is not printable. Backslashes stay: it may have escapes
    already."""
    return _ANYWHERE.sub(r"\\x23", _escaped(text))


def harmless_lines(text):
    """The same of a text of several lines."""
    lines = _ANYWHERE.sub(r"\\x23", _escaped(text, keep="\n\t"))
    return _AT_BEGINNING.sub(r"\1\\x3a", lines)


def _escaped(text, keep=""):
    if text.isprintable():
        return text
    return "".join(each if each in keep else _one_escaped(each) for each in text)


def _one_escaped(character):
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # an octet that is no UTF-8, as os.fsdecode keeps it
        return f"\\x{code - 0xDC00:02x}"
    return "".join(f"\\x{octet:02x}" for octet in character.encode("utf-8", "surrogatepass"))

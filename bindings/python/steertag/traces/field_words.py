"""Fields of decoded arguments and results in words, by tables of what matters."""

import enum
import zlib

from ..files.escape import printable
from .stateids import is_stateid

# Characters of a name that are shown.
MOST_NAME = 48
# Of numbers; other labels are decimal.
_FORMATS = {"clientid": "#x", "flags": "#x", "access": "#x", "mode": "04o"}


def field_words(value, table, stateids):
    """`table` is ((label, path), ...); a path has dots. What is None, false or absent is left out. The label
    "fh" makes a file handle of octets. The labels "fh", "name" and "" are not shown."""
    words = (_word(label, _at(value, path), stateids) for label, path in table)
    return " ".join(word for word in words if word)


def name_words(text):
    """A name in quotes, short and harmless to a terminal."""
    if text and not text.strip("\0"):  # zero octets stand for what a read chunk carries
        return f"{len(text)} octets"
    return f'"{printable(text[:MOST_NAME])}{"..." if len(text) > MOST_NAME else ""}"'


def handle_words(handle):
    """A file handle by its checksum: most have tens of octets without a meaning for others."""
    return f"fh #{zlib.crc32(handle):08x}" if handle else "fh empty"


def _at(value, path):
    for part in path.split("."):
        value = getattr(value, part, None)
        if value is None:
            return None
    return value


def _word(label, value, stateids):
    if value is None or value is False:
        return ""
    if value is True:
        return label
    if is_stateid(value):
        return stateids.words(value)
    shown = _plain(label, value)
    return shown if label in ("", "fh", "name") else f"{label} {shown}"


def _plain(label, value):
    if isinstance(value, bytes):
        return handle_words(value) if label == "fh" else f"{len(value)} octets"
    if isinstance(value, str):
        return name_words(value)
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (list, tuple)):
        return str(len(value))
    return format(value, _FORMATS.get(label, "d"))

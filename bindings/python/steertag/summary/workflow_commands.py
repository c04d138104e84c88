"""The summary as workflow commands of GitHub: annotations of the job, and of rows in the user's baseline."""

from ..causes.digest import counted
from .item import ERROR, WARNING

# GitHub shows this many errors of a step, and as many warnings.
MOST_OF_LEVEL = 10
# An annotation is a box on a page: what is longer is in the summary.
MOST_CHARACTERS = 4000
_ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_ESCAPES_OF_PROPERTIES = {**_ESCAPES, ":": "%3A", ",": "%2C"}


def text(summary):
    """The lines for standard output."""
    lines = (line for level in (ERROR, WARNING) for line in _of_level(summary.items, level))
    return "".join(f"{line}\n" for line in lines)


def _of_level(items, level):
    found = [item for item in items if item.level == level]
    most = len(found) if len(found) <= MOST_OF_LEVEL else MOST_OF_LEVEL - 1
    for item in found[:most]:
        cases = f": {counted(len(item.cases), 'case')}" if item.cases else ""
        place = {} if item.place is None else dict(zip(("file", "line"), item.place))
        yield _command(level, [item.sentence, *item.details], title=f"Steertag{cases}", **place)
    if len(found) > most:
        sentence = f"{len(found) - most:,} more: the summary of the job has them"
        yield _command(level, [sentence], title="Steertag")


def _command(name, lines, **properties):
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    words = "\n".join(lines)
    if len(words) > MOST_CHARACTERS:
        words = f"{words[:MOST_CHARACTERS]} ..."
    return f"::{name} {given}::{_replaced(words, _ESCAPES)}"


def _property(value):
    return _replaced(str(value), _ESCAPES_OF_PROPERTIES)


def _replaced(words, escapes):
    return "".join(escapes.get(character, character) for character in words)

"""JSON that a program wrote, of ours or not."""

import json


def load(path, largest):
    """The content of a file of at most `largest` characters; raises OSError, or ValueError with what is
    wrong."""
    with open(path, encoding="utf-8") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is larger than {largest} characters")
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def text(value):
    """The value, if it is a text that can be printed and written; raises TypeError or ValueError."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    value.encode()
    return value


def problem(error):
    """Half a sentence on what a reader of such content raised: ValueError, KeyError and the like."""
    words = f"something has no {error}" if isinstance(error, KeyError) else str(error)
    return " ".join(words.split())

"""JSON files: loads them with a limit, and checks what they hold."""

import json


def load(path, largest):
    """The content of a file of at most `largest` characters. Raises OSError, or ValueError with the
    fault."""
    with open(path, encoding="utf-8") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is larger than {largest} characters")
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def text(value):
    """The value, if it is a text that can be encoded. Raises TypeError or ValueError."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    value.encode()
    return value


def problem(error):
    """Half a sentence on the error of a reader of such content: ValueError, KeyError and others."""
    words = f"something has no {error}" if isinstance(error, KeyError) else str(error)
    return " ".join(words.split())

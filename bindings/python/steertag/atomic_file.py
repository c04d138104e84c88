"""Files that appear whole or not at all."""

import os


def write_atomically(path, text):
    """The file appears whole under its name or not at all; raises OSError."""
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    except (OSError, UnicodeError):
        part.unlink(missing_ok=True)
        raise

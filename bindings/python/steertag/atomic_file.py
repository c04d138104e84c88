"""Files that appear whole or not at all."""

import errno
import os
import pathlib
import shutil


def write_atomically(path, text):
    """The file appears whole under its name, with the mode of the one that was there, or not at all; a
    link stays one. What is no file (/dev/stdout) is written as it is. Raises OSError."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path = pathlib.Path(os.path.realpath(path))
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        if path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
    except BaseException:  # a signal that stops the command too
        part.unlink(missing_ok=True)
        raise

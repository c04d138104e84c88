"""Files that appear whole or not at all."""

import errno
import os
import pathlib
import shutil


def write_atomically(path, text):
    """Replaces a file whole or not at all. The mode of the old file stays, and a link stays a link.
    A path that is no regular file (/dev/stdout) is written in place. Raises OSError."""
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
    except BaseException:  # also a signal that stops the command
        part.unlink(missing_ok=True)
        raise

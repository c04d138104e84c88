"""Checks for conflicts between the files of a command line, before anything is read or written."""

import os
import stat
import sys

from ..files.escape import printable


def problem(arguments):
    """The conflict in one sentence, or None."""
    return _of_input(arguments) or _of_copy(arguments) or _of_names(arguments)


def _of_input(arguments):
    if arguments.file.count("-") > 1:
        return "standard input can be read once"
    if arguments.markdown and arguments.json == "-":
        return "--markdown and --json - both print: give --json the name of a file"
    if arguments.annotate is None:
        return None
    if len(arguments.file) != 1:
        return "--annotate takes one FILE"
    (path,) = arguments.file
    if path == "-":
        return "--annotate reads FILE twice, which standard input cannot be"
    status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        return f"--annotate reads FILE twice, and {_text(path)} is no regular file"
    return None


def _of_copy(arguments):
    """The copy is renamed into place once it is whole. A pipe or a device cannot be."""
    status = None if arguments.annotate is None else _status(arguments.annotate)
    if status is None or stat.S_ISREG(status.st_mode):
        return None
    return f"--annotate writes a regular file, which {_text(arguments.annotate)} is not"


def _of_names(arguments):
    """No two outputs may be one file, and none a FILE."""
    read = {_identity(each) for each in arguments.file}
    written = {_standard_output(): "standard output"}
    for option in ("json", "junit", "html", "annotate"):
        path = getattr(arguments, option)
        if os.fspath(path or "") == "-" and option != "json":
            return f"--{option} takes the name of a file; only --json prints, with -"
        identity = None if path in (None, "-") else _identity(path)
        if identity is None:
            continue
        if identity in read:
            return f"{_text(path)} is a FILE to be graded, and would be overwritten"
        if identity in written:
            return f"--{option} and {written[identity]} are the same file, {_text(path)}"
        written[identity] = f"--{option}"
    return None


def _text(path):
    return printable(os.fspath(path))


def _status(path):
    try:
        return os.stat(path)
    except OSError:  # it does not exist yet, or its opening reports the error
        return None


def _identity(path):
    """Equal for two names of one file. None for /dev/null, which has no conflicts."""
    status = _status(0 if path == "-" else path)
    return os.path.realpath(path) if status is None else _of_status(status)


def _of_status(status):
    null = _status(os.devnull)
    if null is not None and os.path.samestat(status, null):
        return None
    return status.st_dev, status.st_ino


def _standard_output():
    try:
        return _of_status(os.fstat(sys.stdout.fileno()))
    except (AttributeError, OSError, ValueError):  # it is closed, or has no descriptor
        return None

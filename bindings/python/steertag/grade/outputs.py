"""Checks for conflicts between the files of a command line, before anything is read or written."""

import os
import stat
import sys

from ..files.escape import printable


def problem(arguments):
    """The conflict in one sentence, or None."""
    return (
        _problem_of_input(arguments)
        or _problem_of_annotated_copy(arguments)
        or _problem_of_shared_files(arguments)
    )


def _problem_of_input(arguments):
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
    status = _stat_or_none(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        return f"--annotate reads FILE twice, and {_printable_path(path)} is no regular file"
    return None


def _problem_of_annotated_copy(arguments):
    """The copy is renamed into place once it is whole. A pipe or a device cannot be."""
    status = None if arguments.annotate is None else _stat_or_none(arguments.annotate)
    if status is None or stat.S_ISREG(status.st_mode):
        return None
    return f"--annotate writes a regular file, which {_printable_path(arguments.annotate)} is not"


def _problem_of_shared_files(arguments):
    """No two outputs may be one file, and none a FILE."""
    read = {_file_identity(each) for each in arguments.file}
    written = {_identity_of_standard_output(): "standard output"}
    for option in ("json", "junit", "html", "annotate"):
        path = getattr(arguments, option)
        if os.fspath(path or "") == "-" and option != "json":
            return f"--{option} takes the name of a file; only --json prints, with -"
        identity = None if path in (None, "-") else _file_identity(path)
        if identity is None:
            continue
        if identity in read:
            return f"{_printable_path(path)} is a FILE to be graded, and would be overwritten"
        if identity in written:
            return f"--{option} and {written[identity]} are the same file, {_printable_path(path)}"
        written[identity] = f"--{option}"
    return None


def _printable_path(path):
    return printable(os.fspath(path))


def _stat_or_none(path):
    try:
        return os.stat(path)
    except OSError:  # it does not exist yet, or its opening reports the error
        return None


def _file_identity(path):
    """Equal for two names of one file. None for /dev/null, which has no conflicts."""
    status = _stat_or_none(0 if path == "-" else path)
    return os.path.realpath(path) if status is None else _device_and_inode(status)


def _device_and_inode(status):
    null = _stat_or_none(os.devnull)
    if null is not None and os.path.samestat(status, null):
        return None
    return status.st_dev, status.st_ino


def _identity_of_standard_output():
    try:
        return _device_and_inode(os.fstat(sys.stdout.fileno()))
    except (AttributeError, OSError, ValueError):  # it is closed, or has no descriptor
        return None

"""The one exception of baselines."""


class BaselineError(Exception):
    """A report or a baseline that cannot be used; the text is one sentence."""


def cannot_read(what, path, error):
    """The BaselineError of an OSError."""
    if isinstance(error, FileNotFoundError):
        return BaselineError(f"there is no {what} {path}: {error.strerror}")
    return BaselineError(f"the {what} {path} cannot be read: {error.strerror}")

"""The one exception of baselines."""


class BaselineError(Exception):
    """A report or a baseline that cannot be used; the text is one sentence."""

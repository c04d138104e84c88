"""The end of a run whose target cannot be tested."""


class Unreachable(Exception):
    """The target cannot be tested at all; the text is one sentence."""

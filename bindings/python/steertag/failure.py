"""The exception that ends a command that cannot do its work."""


class Failure(Exception):
    """Ends the command with one sentence and exit status 2."""

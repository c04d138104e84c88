"""The rows with cases that no deviation breaks, each with the reason why none can, or why its cases could
not see it. `server:` or `client:` before the reason says that it is about this side alone."""

from .. import requirements as ledger
from . import reasons


def read(path):
    """{(id, side): reason} in the order of the file, the side empty where a line names none; raises
    reasons.BadReasons."""
    return {(entry, side): reason for entry, side, reason in reasons.read(path, ledger.SIDES)}

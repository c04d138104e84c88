"""An item of a summary: something that is wrong, with the cases that it concerns."""

import dataclasses

# Words of `level`. An error fails the run.
ERROR, WARNING = "error", "warning"


@dataclasses.dataclass(frozen=True)
class Item:
    """A cause, cases that differ alike from a baseline, or a fault of the run itself.

    - `sentence`: what is wrong. If `is_ledgers`, all its words are the ledger's; otherwise some may be the target's.
    - `cases`: ids; `details`: lines of text.
    - `key`: equal for the same item of two runs.
    - `place`: (path, line) of the baseline's row, or None.

    All texts are printable, so none has a line end."""

    level: str
    sentence: str
    cases: tuple = ()
    details: tuple = ()
    is_ledgers: bool = False
    key: tuple = ()
    place: tuple | None = None

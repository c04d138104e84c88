"""Which case caught which deviation, as `steertag mutation --json` writes it."""

import dataclasses

from .. import json_file
from ..json_file import text

# Above the largest file that we write. A larger file is a wrong file.
LARGEST_FILE = 16 << 20
CAUGHT = "caught"  # by a case that claims the requirement


class BadResults(Exception):
    """A file that cannot be used; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Catch:
    """The outcome of a deviation: a word of `steertag mutation`, the id of the case that caught it,
    and the ids of failed cases. `whole`: all cases were tried."""

    outcome: str
    case: str
    failed: tuple = ()
    whole: bool = False

    @property
    def caught(self):
        return self.outcome == CAUGHT


def read(path):
    """[((name of a deviation, requirement that it breaks), Catch)] in the file; raises BadResults."""
    try:
        return [
            ((text(row["name"]), text(row["requirement"])), _catch(row))
            for row in json_file.load(path, LARGEST_FILE)
        ]
    except OSError as error:
        raise BadResults(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        problem = json_file.problem(error)
        raise BadResults(f"{path} was not written by steertag mutation: {problem}") from None


def _catch(row):
    failed = tuple(text(each) for each in row["failed"])
    return Catch(text(row["outcome"]), text(row["by"]), failed, row["whole"] is True)

"""What is done of a run, kept on disk case by case, so that a run whose machine died can be gone on with.

For a suite that runs in the target's own machine: whatever takes that machine down takes the suite too.
The file has one JSON object a line: {"target": URL} first, then for each case {"started": record}, with the
record that it has if nothing follows, and {"ended": record}.
"""

import contextlib
import dataclasses
import json
import os

from .report import Record
from .verdict import Verdict

NAME = "progress.jsonl"
# Of the file: a record is below 64 KiB, a suite has below ten thousand cases.
LARGEST_FILE = 1 << 28


class BadProgress(Exception):
    """A progress file that cannot be gone on with; the text is one sentence."""


class Progress:
    """The progress file of one report directory; `target` is the URL that the run is about."""

    def __init__(self, directory, target):
        """Reads what an earlier run left; raises BadProgress."""
        self._path = directory / NAME
        self._file = None
        self._target = target
        self.records = {}  # by case id: of the run that is gone on with
        try:
            self._read()
        except OSError as error:
            raise BadProgress(f"{self._path}: {error.strerror}") from None

    def _read(self):
        try:
            with open(self._path, encoding="utf-8") as file:
                text = file.read(LARGEST_FILE + 1)
        except FileNotFoundError:
            return
        except UnicodeDecodeError:
            raise BadProgress(f"{self._path}: not UTF-8 text") from None
        if len(text) > LARGEST_FILE:
            raise BadProgress(f"{self._path}: larger than {LARGEST_FILE} octets")
        # What stands behind the last line's end was cut in the middle.
        for number, line in enumerate(text.split("\n")[:-1], 1):
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError):
                raise BadProgress(
                    f"{self._path}, line {number}: not the progress of a run"
                ) from None

    def _take(self, entry):
        ((kind, value),) = entry.items()
        if kind == "target":
            if value != self._target:
                raise BadProgress(f"{self._path}: the run in it is of {value}, not {self._target}")
        elif kind in ("started", "ended"):
            record = Record(**value)
            Verdict(record.verdict)
            self.records[record.id] = record
        else:
            raise ValueError(kind)

    def started(self, record):
        """A case is about to run, and has this record if it does not end; on disk when this returns.
        Raises OSError."""
        self._write({"started": dataclasses.asdict(record)})

    def ended(self, record):
        """The case has its record; on disk when this returns. Raises OSError."""
        self._write({"ended": dataclasses.asdict(record)})

    def _write(self, entry):
        if self._file is None:
            self._begin()
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
        os.fdatasync(self._file.fileno())

    def _begin(self):
        """Writes anew what was read, and goes on behind it."""
        part = self._path.with_name(f"{NAME}.part")
        self._file = open(part, "w", encoding="utf-8")
        self._write({"target": self._target})
        for record in self.records.values():
            self._write({"ended": dataclasses.asdict(record)})
        os.replace(part, self._path)

    def close(self, whole):
        """Ends the writing; a `whole` run leaves no file, so that the next one begins anew."""
        if self._file is not None:
            self._file.close()
        if whole:
            with contextlib.suppress(FileNotFoundError):
                self._path.unlink()

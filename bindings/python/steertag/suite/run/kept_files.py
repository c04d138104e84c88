"""The files of one case in the report directory: its capture, its recording, and its text."""

from ...atomic_file import write_atomically
from ...verdict import Verdict
from ..recording import recording_file
from .options import ALL
from .report import CAPTURES, FAILURES, TEXTS

# Cases of one cause that leave a capture and a recording, in each process. More of them show nothing new, and
# a server that breaks a rule in every case would fill the disk.
MOST_OF_A_CAUSE = 50
# Verdicts that leave a recording; WARN does if it fails the run.
RECORDED = (Verdict.FAIL, Verdict.CRASH, Verdict.HANG)
# Verdicts after which there is nothing to look for in a capture.
_UNREMARKABLE = (Verdict.PASS, Verdict.LATITUDE, Verdict.NOT_TESTABLE, Verdict.UNSUPPORTED)


class KeptFiles:
    """Each method writes a file, or removes that of an earlier run of the case. Raises OSError."""

    def __init__(self, options, run, is_one_of_many):
        """`is_one_of_many`: enough other cases of its cause have left files."""
        self._options = options
        self._run = run
        self._wanted = run.verdict not in _UNREMARKABLE and not is_one_of_many

    def keep_capture(self, bench, is_improvement=False):
        """`is_improvement`: the case went well, and its baseline says otherwise."""
        directory = self._options.report / CAPTURES
        if self._wanted or is_improvement or self._options.captures == ALL:
            bench.write_capture(directory)
        else:
            (directory / f"{self._run.case_id}.pcapng").unlink(missing_ok=True)

    def keep_recording(self, make):
        """`make(run)` gives the Recording."""
        run = self._run
        path = self._options.report / FAILURES / f"{run.case_id}{recording_file.SUFFIX}"
        warned = self._options.strict and run.verdict is Verdict.WARN
        if not self._wanted or run.verdict not in RECORDED and not warned:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        recording_file.write(path, make(run))
        run.replay = path

    def keep_text(self, text):
        """What is to be read about a case that went wrong."""
        path = self._options.report / TEXTS / f"{self._run.case_id}.txt"
        if self._run.verdict in _UNREMARKABLE:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, f"{self._run.case_id}\n{text}\n")

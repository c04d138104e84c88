"""The common part of a server's and a client's session in one process: running case, bench, end of
the run."""

import collections
import dataclasses

from ..cases.case_end import NotTestable
from ..exchange.deadline import Deadlines
from ..recording import recording_file
from .kept_files import KeptFiles, MOST_OF_A_CAUSE


class Unreachable(Exception):
    """The target cannot be tested at all; the text is one sentence. `record` is the report.Record of the first contact
    if the target broke a requirement there: it is the result of the run. Otherwise None."""

    def __init__(self, sentence, record=None):
        super().__init__(sentence)
        self.record = record


class CaseSession:
    """Owned by the plugin; `name` is the xdist worker's, or "main". A subclass has `first_contact`,
    `_expendable`, `_check_need`, `_recorded_target` and `_recorded_steps`."""

    def __init__(self, options, name):
        self.options = options
        self.name = name
        self.deadlines = Deadlines()
        self.lost = ""  # why no further case can run
        self._run = None
        self._bench = None
        self._alike = collections.Counter()  # finished runs by the key of their cause

    @property
    def run(self):
        return self._run

    @property
    def bundled(self):
        """Whether the peer under test is our own."""
        return False

    @property
    def tcp_found(self):
        """The URL over TCP that the run found by itself, or ""."""
        return ""

    def look_over(self):
        """Before the cases of a run: looks for what would hinder them. Raises Unreachable."""

    def _make_sure(self):
        """Makes sure that the peer under test is up. Raises Unreachable."""
        if self.lost:
            raise Unreachable(self.lost)
        try:
            self.first_contact()
        except Unreachable as error:
            self.lost = str(error)
            raise

    def check_needs(self, case):
        """Ends the case with Unsupported or NotTestable if the run lacks one of its needs."""
        if case.risk == "destructive" and not self._expendable():
            raise NotTestable(
                "destructive: runs against a third party only with --allow-destructive",
                remedy="--allow-destructive, or `destructive: true` in the profile",
            )
        for need in case.needs:
            self._check_need(need)

    # -- what a case leaves in the report directory --------------------------------------------

    def files_of(self, run, cause):
        """The KeptFiles of a finished run. `cause` is its CaseCause, or None."""
        key = None if cause is None else cause.key
        self._alike[key] += 1
        return KeptFiles(self.options, run, self._alike[key] > MOST_OF_A_CAUSE)

    def recording_of(self, run):
        """The recording.Recording of a run that has ended."""
        steps, gap = self._recorded_steps(run)
        return recording_file.Recording(
            case=dataclasses.asdict(run.case) | {"id": run.case_id},
            target=self._recorded_target(),
            verdict=run.verdict.value,
            reason=run.reason,
            detail=run.text(),
            findings=[dataclasses.asdict(found) for found in run.findings],
            steps=steps,
            gap=gap,
            capture=run.capture.read_bytes() if run.capture else b"",
        )

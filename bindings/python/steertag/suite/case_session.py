"""What one process's part of a run has whether it tests a server or a client: the case that runs now, its
bench, and why no further case can run."""

from .deadline import Deadlines
from .unreachable import Unreachable
from .verdict import NotTestable


class CaseSession:
    """Owned by the plugin; `name` is the xdist worker's, or "main". A subclass has `first_contact`,
    `_expendable` and `_check_need`."""

    def __init__(self, options, name):
        self.options = options
        self.name = name
        self.deadlines = Deadlines()
        self.lost = ""  # why no further case can run
        self._run = None
        self._bench = None

    @property
    def run(self):
        return self._run

    def _make_sure(self):
        """What is tested is up. Raises Unreachable."""
        if self.lost:
            raise Unreachable(self.lost)
        try:
            self.first_contact()
        except Unreachable as error:
            self.lost = str(error)
            raise

    def check_needs(self, case):
        """Ends the case with Unsupported or NotTestable if the run cannot offer what it needs."""
        if case.risk == "destructive" and not self._expendable():
            raise NotTestable(
                "destructive: runs against a third party only with --allow-destructive"
            )
        for need in case.needs:
            self._check_need(need)

"""One graded file: its counts, its findings and its status."""

import collections
import dataclasses
import enum
import operator

from .. import conformance
from .. import requirements as ledger
from ..verdict import Verdict, verdict_of_level

_RULES = [*conformance.rules(), *conformance.legacy_rules()]
SENTENCES = {rule.name: rule.sentence for rule in _RULES}
LEVELS = {rule.name: ledger.level(rule.requirement) for rule in _RULES}


class Status(enum.Enum):
    """The status of a file; the first that applies."""

    UNREADABLE = "unreadable"  # no part of it could be read
    DAMAGED = "damaged"  # graded up to the damage
    VIOLATIONS = "violations"
    WARNINGS = "warnings"
    NOTHING = "nothing"  # no message of RPC-over-RDMA could be judged
    CLEAN = "clean"


class Row:
    """A finding as reports show it. It is a view of the engine's: of thousands, few are shown."""

    __slots__ = ("_found",)

    def __init__(self, found):
        self._found = found

    connection = property(operator.attrgetter("_found.connection"))
    frame = property(operator.attrgetter("_found.frame"))
    time_ns = property(operator.attrgetter("_found.time_ns"))
    culprit = property(operator.attrgetter("_found.culprit.name"), doc='"client" or "server"')
    requirement = property(operator.attrgetter("_found.requirement"))
    rule = property(operator.attrgetter("_found.rule"))
    expected = property(operator.attrgetter("_found.expected"))
    observed = property(operator.attrgetter("_found.observed"))
    event = property(
        operator.attrgetter("_found.event"), doc="(Role, kind, number): the event that proves it"
    )
    known_frame = property(operator.attrgetter("_found.known_frame"), doc="0: at the capture's end")

    @property
    def level(self):
        return LEVELS[self.rule]

    @property
    def verdict(self):
        """Verdict.FAIL, WARN or LATITUDE."""
        return verdict_of_level(self.level)

    @property
    def sentence(self):
        """What holds on a conforming connection."""
        return SENTENCES[self.rule]

    @property
    def place(self):
        """ "RFC 8166 3.3.1" """
        return f"{self.requirement.document.replace('RFC', 'RFC ')} {self.requirement.section}"


@dataclasses.dataclass
class Graded:
    """A graded file. `error` is the CaptureError that ended the reading; without a `report` it was
    immediate."""

    path: str
    error: Exception | None = None
    report: object = None
    packets: int = 0
    other_packets: int = 0
    cut_packets: int = 0
    first_cut: int = 0
    forgotten: int = 0

    def __post_init__(self):
        found = self.report.findings if self.report else []
        self.rows = sorted(map(Row, found), key=operator.attrgetter("frame"))
        self.connections = self.report.connections if self.report else []
        self.files = self.report.files if self.report else []
        self.counts = self._counts()

    @property
    def connections_in_all(self):
        return self.report.connections_in_all if self.report else 0

    @property
    def messages_judged(self):
        return self.report.messages_judged if self.report else 0

    @property
    def findings_in_all(self):
        return self.report.findings_in_all if self.report else 0

    @property
    def unclassified(self):
        """Findings of packets with more findings than the judge keeps. Their level is unknown."""
        return self.findings_in_all - sum(self.counts.values())

    @property
    def violations(self):
        """Findings that break a MUST. Unclassified findings count, because they may."""
        return self.counts[Verdict.FAIL] + self.unclassified

    @property
    def warnings(self):
        return self.counts[Verdict.WARN]

    @property
    def status(self):
        if self.error is not None:
            return Status.DAMAGED if self.report else Status.UNREADABLE
        if self.violations:
            return Status.VIOLATIONS
        if self.warnings:
            return Status.WARNINGS
        return Status.CLEAN if self.messages_judged else Status.NOTHING

    def _counts(self):
        """{Verdict: number of findings} of all connections."""
        return _by_verdict(self.report.findings_by_rule if self.report else [])


def connection_counts(connection):
    """{Verdict: number of findings} of a connection."""
    return _by_verdict(connection.findings)


def _by_verdict(rules):
    counts = collections.Counter()
    for requirement, _, _, count, _ in rules:
        counts[verdict_of_level(ledger.level(requirement))] += count
    return counts

"""The log of one case: what was posted on its connections, what came, in order, and what was judged.

Taps at the boundary of the fabric and of TCP streams fill it. Steps:

    connect, connect_tcp, stream            a connection "c0", a stream "s0"; the file helper has "h0"
    memory, invalidate                      a registered region "m0"
    send, raw, end, close, reset            what was posted; "raw" is any other operation of the fabric
    accepted, rejected, received, rdma_write, rdma_read, ended    what came
    terminated                              our provider refused what came, and ended the connection
    quiet                                   nothing came within these milliseconds
    unjudged                                from here on the judge does not see what the target sees
    given                                   a value that a replay makes anew: "base", "root", "client_owner"
    expect, check                           what was judged, by the number of the step that is judged
"""

import collections
import contextlib
import dataclasses

from .plain import as_plain
from .step import MOST_OCTETS, MOST_STEPS, Step


@dataclasses.dataclass(eq=False)
class _Entry:
    """A step that was posted or judged."""

    kind: str
    subject: str
    fields: dict


@dataclasses.dataclass(frozen=True)
class _Came:
    """What came on one connection since the entry before: a range of its tap's log."""

    tap: object
    start: int
    end: int


class Recorder:
    """Collects the steps of one run of a case."""

    def __init__(self):
        self.gap = ""  # why the recording cannot be repeated; "" if it can
        self._log = []
        self._taps = []
        self._drained = {}  # tap: what of its log is in ours
        self._quiet = {}  # subject: the entry that ends the log and may grow
        self._counts = collections.Counter()
        self._octets = 0
        self._paused = 0
        self._is_over = False

    # -- what taps tell ------------------------------------------------------------------------

    @property
    def listening(self):
        """Whether what is posted now belongs to the case."""
        return not (self._paused or self._is_over or self.gap)

    def name(self, prefix):
        """A new name: "c0" for the first connection."""
        number = self._counts[prefix]
        self._counts[prefix] += 1
        return f"{prefix}{number}"

    def tapped(self, tap):
        """From here on the log has what comes to this tap, which is returned."""
        self._taps.append(tap)
        self._drained[tap] = 0
        return tap

    def tap_of(self, conn):
        """The tap on a connection, or the plain stream itself; None if it has none."""
        if conn is None:
            return None
        return next((tap for tap in self._taps if conn in (tap, tap.conn)), None)

    def posted(self, kind, subject, **fields):
        """One step. Returns its fields, which may be completed until the next step; None if the log
        does not take it."""
        if not self.listening:
            return None
        self._drain()
        return self._append(kind, subject, fields)

    def quiet(self, subject, timeout_ms):
        """Nothing came on a connection within this time."""
        if not self.listening:
            return
        self._drain()
        entry = self._quiet.get(subject)
        if entry is None:
            self._append("quiet", subject, {"ms": 0})
            entry = self._log[-1]
            self._quiet[subject] = entry
        entry.fields["ms"] += timeout_ms

    def came(self):
        """Something came on a connection: it goes behind what came on others before."""
        self._drain_if_listening()

    def _append(self, kind, subject, fields):
        self._octets += sum(len(each) for each in fields.values() if isinstance(each, bytes))
        if len(self._log) >= MOST_STEPS:
            self.gap = f"the case has more than {MOST_STEPS} steps"
        elif self._octets > MOST_OCTETS:
            self.gap = f"the case uses more than {MOST_OCTETS >> 20} MiB"
        if kind != "quiet":
            self._quiet.clear()
        self._log.append(_Entry(kind, subject, fields))
        return fields

    def _drain(self):
        """Takes over what has come since."""
        for tap in self._taps:
            start, end = self._drained[tap], tap.position
            if end > start:
                self._quiet.clear()
                self._log.append(_Came(tap, start, end))
                self._drained[tap] = end

    # -- what the harness tells ----------------------------------------------------------------

    @contextlib.contextmanager
    def paused(self):
        """What is posted within is no part of the log."""
        self._drain_if_listening()
        self._paused += 1
        try:
            yield
        finally:
            for tap in self._taps:
                self._drained[tap] = tap.position
            self._paused -= 1

    def _drain_if_listening(self):
        if self.listening:
            self._drain()

    def given(self, name, value):
        """A value that differs in each run; a replay asks its own bench for it."""
        self.posted("given", "", name=name, value=value)

    def over(self):
        """The case has ended: what follows belongs to the harness."""
        self._drain_if_listening()
        self._is_over = True

    # -- what is judged ------------------------------------------------------------------------

    def expect(self, outcome, requirement_id, sets):
        """The kind of an outcome is judged."""
        if not self.listening:
            return
        tap = self.tap_of(getattr(outcome, "conn", None))
        if tap is None:
            self.gap = self.gap or "a case judges an outcome that it made up itself"
            return
        asked = None if outcome.call is None else list(outcome.call.asked)
        self.posted(
            "expect",
            "",
            conn=tap.name,
            message=outcome.number,
            xid=outcome.xid,
            asked=asked,
            requirement=requirement_id,
            **as_plain(sets),
        )

    def check(self, reason, verdict, outcome=None):
        """Something was judged that is not as it should be. `outcome` is what it was about; without one
        it is about all that came since the last calls."""
        if not self.listening:
            return
        tap = self.tap_of(getattr(outcome, "conn", None))
        self.posted(
            "check",
            "",
            conn="" if tap is None else tap.name,
            message=None if tap is None else outcome.number,
            xid=None if tap is None else outcome.xid,
            reason=reason,
            verdict=verdict.value,
        )

    def ended(self, reason, verdict):
        """The case ended with a failure. The judgement of `expect` has a step already."""
        last = next((each for each in reversed(self._log) if isinstance(each, _Entry)), None)
        if last is None or not _is_judgement(last, reason):
            self.check(reason, verdict)

    # -- the result ----------------------------------------------------------------------------

    def steps(self):
        """[recording_file.Step]: the whole log."""
        steps, numbers = [], {}  # (connection, message): number of its step
        messages = collections.Counter()
        for entry in self._log:
            if isinstance(entry, _Entry):
                fields = dict(entry.fields)
                if entry.kind in ("expect", "check"):
                    place = fields["conn"], fields.pop("message")
                    fields["seen"] = numbers.get(place)
                steps.append(Step(len(steps), entry.kind, entry.subject, fields))
                continue
            for kind, fields in entry.tap.came(entry.start, entry.end):
                if kind == "received":
                    messages[entry.tap.name] += 1
                    numbers[entry.tap.name, messages[entry.tap.name]] = len(steps)
                steps.append(Step(len(steps), kind, entry.tap.name, fields))
        if len(steps) > MOST_STEPS:
            self.gap = self.gap or f"the case has more than {MOST_STEPS} steps"
        return steps[:MOST_STEPS]


def _is_judgement(entry, reason):
    """Whether the entry is the judgement that failed for this reason."""
    if entry.kind == "expect":
        return reason.startswith(f"{entry.fields['requirement']}: ")
    return entry.kind == "check" and entry.fields["reason"] == reason

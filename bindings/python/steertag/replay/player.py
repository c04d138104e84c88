"""Plays a recording with the bench of a case.

It posts the same messages in the same order, waits for what had come, and judges the same."""

import dataclasses

from .. import fabric
from ..suite.cases.case_end import CaseEnd, NotTestable
from ..suite.cases.case_run import current_run
from ..suite.cases.expectation import expect
from ..suite.exchange.deadline import ANSWER_FLOOR_MS, Limit, PATIENCE_FLOOR_MS
from ..suite.recording.fabric_tap import BENT, fault_of, packet_of, RAW
from ..verdict import Verdict
from .conversation import Conversation
from .recorded_memory import Memory
from .plain_stream import PlainStream
from .symbols import Symbols

# A recording may come from elsewhere: how long one wait and all of it may take, and memory that one of
# its connections may use. No case of the suite comes near.
LONGEST_WAIT_MS = 60_000
LONGEST_MS = 15 * 60_000
MOST_RECEIVED_OCTETS = 256 << 20
# What comes of a step whose fields are not those that the recorder writes.
_DAMAGES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_JUDGED = ("must", "should", "latitude", "warn")


class Player:
    """One run of a recording's steps. No wait for what may come of itself is longer than
    `longest_wait_ms`."""

    def __init__(self, recording, bench, longest_wait_ms=LONGEST_WAIT_MS):
        self._recording = recording
        self._bench = bench
        self._longest_wait_ms = longest_wait_ms
        self._symbols = Symbols()
        self._memory = Memory(self._symbols)
        self._talks = {}  # connections and streams by the recording's names: Conversation

    def play(self):
        """Ends as the case did: by returning, or with what a judgement raises."""
        if self._recording.gap:
            raise NotTestable(f"the recording has a gap: {self._recording.gap}")
        limit = Limit(LONGEST_MS)
        for step in self._recording.steps:
            if limit.passed:
                raise NotTestable(f"the recording takes longer than {LONGEST_MS // 60_000} minutes")
            do = _STEPS.get(step.kind)
            if do is None:
                raise NotTestable(f"the recording has a step {step.kind!r}, which is unknown here")
            try:
                do(self, step)
            except _DAMAGES as error:
                what = f"step {step.number} ({step.kind}) cannot be done"
                raise NotTestable(f"{what}: {type(error).__name__}: {error}") from None

    # -- connections ---------------------------------------------------------------------------

    def _connect(self, step):
        settings = dict(step.fields["settings"])
        octets = settings.get("receives", 1) * (settings.get("receive_bytes") or 1)
        if octets > MOST_RECEIVED_OCTETS:
            raise ValueError(f"receives for more than {MOST_RECEIVED_OCTETS >> 20} MiB")
        must_open = step.fields["must_open"]
        for name in BENT & settings.keys():
            settings[name] = packet_of(settings[name])
        self._begin(step.subject, self._bench.connect(greet=False, must_open=must_open, **settings))

    def _connect_tcp(self, step):
        must_open = step.fields["must_open"]
        is_twin = self._recording.target.over != "tcp"
        connect = self._bench.connect_tcp if is_twin else self._bench.connect
        local_port = step.fields.get("local_port", 0)  # none in recordings of older versions
        self._begin(step.subject, connect(must_open=must_open, local_port=local_port))

    def _stream(self, step):
        stream = self._bench.stream()
        self._talks[step.subject] = PlainStream(stream, self._tap_of(stream), self._symbols)

    def _begin(self, name, conn):
        steps = [step for step in self._recording.steps if step.subject == name]
        judged = [step for step in self._recording.steps if step.fields.get("conn") == name]
        asked = {step.fields["xid"]: step.fields["asked"] for step in judged if _asks(step)}
        known = asked, self._symbols, self._memory
        self._talks[name] = Conversation(conn, self._tap_of(conn), steps, *known)

    @staticmethod
    def _tap_of(conn):
        return current_run().recorder.tap_of(conn)

    def _talk(self, name):
        """The Conversation of this name; that of the file helper begins when it is first used."""
        conn = self._bench.files.conn if name.startswith("h") else None
        if conn is not None and (name not in self._talks or self._talks[name].conn is not conn):
            self._begin(name, conn)
            self._talks[name].restart()
        return self._talks.get(name)

    # -- memory --------------------------------------------------------------------------------

    def _offer(self, step):
        talk = self._talk(step.fields["conn"])
        if talk is not None:
            self._memory.offer(step, talk.conn)

    def _invalidate(self, step):
        """The memory of a call whose answer is still awaited stays until it is clear what comes of it."""
        offer = self._memory.offers.get(step.subject)
        if offer is None:
            return
        for talk in self._talks.values():
            talk.conclude_calls_of(step, offer)
        offer.close()

    # -- what is posted ------------------------------------------------------------------------

    def _send(self, step):
        talk = self._talk(step.subject)
        if talk is not None:
            invalidate = self._memory.stag_now(step.fields.get("invalidate"))
            talk.send(step, invalidate, fault_of(step.fields.get("fault")))

    def _raw(self, step):
        talk, name = self._talk(step.subject), step.fields["method"]
        if talk is None or name not in RAW:
            return
        arguments = [self._argument(each) for each in step.fields["arguments"]]
        try:
            fault = fault_of(step.fields.get("fault"))
            getattr(talk.conn.raw, name)(*arguments, **({} if fault is None else {"fault": fault}))
        except fabric.FabricError as error:
            # This target may have ended the connection where that of the recording had not.
            if error.code != fabric.ErrorCode.not_connected:
                raise

    def _argument(self, value):
        if isinstance(value, str):
            return self._memory.offers[value].region
        if isinstance(value, bytes):
            return self._symbols.in_octets(value)
        return self._memory.stag_now(value)

    def _end(self, step):
        talk = self._talk(step.subject)
        if talk is not None:
            talk.end(step.kind)

    def _unjudged(self, step):
        talk = self._talk(step.subject)
        if talk is not None:
            talk.conn.stop_judging()

    # -- what comes ----------------------------------------------------------------------------

    def _received(self, step):
        talk = self._talk(step.subject)
        if talk is not None:
            self._flush()
            talk.receive(step, self._patience(talk))

    def _ended(self, step):
        talk = self._talk(step.subject)
        if talk is not None:
            self._flush()
            talk.await_end(step, self._patience(talk))

    def _flush(self):
        """What was posted on any connection leaves before one of them is waited for."""
        for talk in self._talks.values():
            talk.flush()

    def _noted(self, step):
        """What needs no wait: it comes with a message, or not at all."""
        talk = self._talk(step.subject)
        if talk is not None:
            talk.note(step)
            self._memory.note(step)

    def _patience(self, talk):
        """How long what came in the recording is awaited: not for long again where it did not come."""
        deadlines = self._bench.deadlines
        wanted = deadlines.patience_ms if talk.has_missed else deadlines.answer_ms
        return Limit(min(wanted, self._longest_wait_ms))

    def _quiet(self, step):
        """Waits as the case waited for what did not come, by the deadlines of this target."""
        talk, wanted = self._talk(step.subject), step.fields["ms"]
        if talk is None:
            return
        deadlines = self._bench.deadlines
        if wanted >= ANSWER_FLOOR_MS:
            wanted = deadlines.answer_ms
        elif wanted >= PATIENCE_FLOOR_MS:
            wanted = max(wanted, deadlines.patience_ms)
        talk.wait(min(wanted, self._longest_wait_ms))

    def _given(self, step):
        """A value that differs in each run: what this run has in its place."""
        name, value = step.fields["name"], step.fields["value"]
        if name in ("root", "base"):
            self._symbols.handle(value, self._of_files(name))
        elif name == "base_name":
            self._symbols.text(value, self._of_files(name))
        elif name == "client_owner":
            owner = self._bench.client_owner()
            self._bench.discard_client(owner)
            self._symbols.text(value, owner)
        else:
            raise ValueError(f"no value is called {name!r}")

    def _of_files(self, name):
        """A value of the file helper, which may post calls of its own for it."""
        files = self._bench.files
        value = getattr(files, name)
        for talk in self._talks.values():
            if talk.conn is files.conn:
                talk.restart()
        return value

    # -- what is judged ------------------------------------------------------------------------

    def _expect(self, step):
        fields = step.fields
        talk = self._talk(fields["conn"])
        if talk is not None:
            sets = {name: fields[name] for name in _JUDGED if name in fields}
            expect(talk.outcome(fields["seen"], fields["xid"]), fields["requirement"], **sets)

    def _check(self, step):
        """Judges as the case did if the same came. What the case would have said of anything else is not
        known, and so it is no failure."""
        fields = step.fields
        verdict = Verdict(fields["verdict"])
        talk = self._talk(fields["conn"]) if fields["conn"] else None
        concerned = [talk] if talk is not None else list(self._talks.values())
        differences = filter(None, (each.difference(fields["xid"]) for each in concerned))
        difference = next(differences, "")
        if difference:
            current_run().epilogue = f"not judged again: {difference}"
            return
        end = CaseEnd(fields["reason"], "the same came as when it was recorded")
        end.verdict = verdict
        if verdict.spoils_run:
            raise end
        current_run().note(verdict, end.reason, end.detail)


def _asks(step):
    return step.kind == "expect" and step.fields.get("asked")


_STEPS = {
    "connect": Player._connect,
    "connect_tcp": Player._connect_tcp,
    "stream": Player._stream,
    "memory": Player._offer,
    "invalidate": Player._invalidate,
    "send": Player._send,
    "raw": Player._raw,
    "end": Player._end,
    "close": Player._end,
    "reset": Player._end,
    "unjudged": Player._unjudged,
    "received": Player._received,
    "ended": Player._ended,
    "accepted": Player._noted,
    "rejected": Player._noted,
    "rdma_write": Player._noted,
    "rdma_read": Player._noted,
    "terminated": Player._ended,
    "quiet": Player._quiet,
    "given": Player._given,
    "expect": Player._expect,
    "check": Player._check,
}

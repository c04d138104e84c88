"""Does again what a recording holds, with the bench of a case: the same actions in the same order, and the
same judgements."""

import dataclasses

from .. import fabric, wire
from ..suite.cases import kinds
from ..suite.cases.case_end import Failed, NotTestable
from ..suite.cases.case_run import current_run
from ..suite.cases.expectation import expect
from ..suite.exchange.call import Call, RecordCall
from ..suite.exchange.callbacks import Callback, Callbacks
from ..suite.exchange.deadline import Limit
from ..suite.exchange.message import Message
from ..suite.exchange.outcome import Outcome
from ..suite.nfs_client.case_files import FILES, HELPER
from ..suite.nfs_client.compound import CompoundReply
from ..suite.recording.likeness import blanked
from ..suite.recording.observation import as_plain, Heard, surroundings, values_of
from ..suite.recording.recorder import is_glance
from ..verdict import Verdict
from .assigned_ids import recorded_result
from .symbols import Symbols

# What a recording may do, by what it is done to.
_ON_CONNECTION = ("receive", "await_outcome", "take_outcome", "collect_sent", "probe")
_ON_CONNECTION += ("wait_closed", "wait_event", "close", "abort", "work", "lose_sight")
_ON_CONNECTION += ("send_octets", "end")
_ON_FILES = ("name", "file", "sparse_file", "symlink", "directory", "descend", "read")
_OF_FILES = ("root", "base", "base_name")
_ON_CALLBACKS = ("configure", "wait", "wait_seen")
_ON_STREAM = ("send", "end", "reset", "close", "take", "receive")
_ON_RAW = ("wait", "send_raw", "terminate", "disconnect", "abort", "rdma_write", "rdma_read")
_RELATIONS = {
    "equal": lambda actual, expected: actual == expected,
    "data": lambda actual, expected: actual == expected,
    "one_of": lambda actual, allowed: actual in allowed,
    "at_least": lambda actual, least: actual >= least,
    "at_most": lambda actual, most: actual <= most,
    "true": lambda actual, _: bool(actual),
}


# A recording may come from elsewhere: how long one wait and all of it may take, and memory that one of
# its connections may use. No case of the suite comes near.
LONGEST_WAIT_MS = 60_000
LONGEST_MS = 15 * 60_000
MOST_RECEIVED_OCTETS = 256 << 20
# What comes of a step whose fields are not those that the recorder writes.
_DAMAGES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Player:
    """One run of a recording's steps. No wait for what may come of itself is longer than
    `longest_wait_ms`."""

    def __init__(self, recording, bench, longest_wait_ms=LONGEST_WAIT_MS):
        self._recording = recording
        self._bench = bench
        self._longest_wait_ms = longest_wait_ms
        self._symbols = Symbols()
        self._things = {}  # connections, streams and memory by the recording's names
        self._messages = {}  # what was sent, by the number of its step
        self._came = {}  # (number, XID or None): what came of a step
        self._stags = {}  # steering tag: name of its memory
        self._uncalled = set()  # XIDs of calls of the target in the recording that did not come now
        self._parted = False  # something else came than in the recording

    def play(self):
        """Ends as the case did: by returning, or with what a judgement raises."""
        if self._recording.gap:
            raise NotTestable(f"the recording has a gap: {self._recording.gap}")
        limit = Limit(LONGEST_MS)
        for step in self._recording.steps:
            if limit.passed:
                raise NotTestable(f"the recording takes longer than {LONGEST_MS // 60_000} minutes")
            try:
                self._do(step)
            except _DAMAGES as error:
                what = f"step {step.number} ({step.kind}) cannot be done"
                raise NotTestable(f"{what}: {type(error).__name__}: {error}") from None

    def _do(self, step):
        method = getattr(self, f"_{step.kind}", None) if step.kind in _OWN else self._on_subject
        if step.state is not None:
            subject = self._subject(step.subject)
            if subject is not None:
                subject.numbering = int(step.state)
        result = method(step)
        self._learn(step, result)

    def _subject(self, name):
        if name in (FILES, HELPER):
            files = self._bench.files
            return files if name == FILES else files.conn
        return self._things.get(name)

    # -- what makes things -----------------------------------------------------------------------

    def _connect(self, step):
        settings = dict(step.fields.get("settings", {}))
        if (
            settings.get("receives", 1) * (settings.get("receive_bytes") or 1)
            > MOST_RECEIVED_OCTETS
        ):
            raise ValueError(f"receives for more than {MOST_RECEIVED_OCTETS >> 20} MiB")
        opening = {"greet": step.fields["greet"], "must_open": step.fields["must_open"]}
        conn = self._bench.connect(**opening, **settings)
        self._things[step.subject] = conn
        return conn

    def _connect_tcp(self, step):
        must_open = step.fields["must_open"]
        self._things[step.subject] = self._bench.connect_tcp(must_open=must_open)

    def _stream(self, step):
        self._things[step.subject] = self._bench.stream()

    def _callbacks(self, step):
        conn = self._things.get(step.fields["conn"])
        if conn is not None:
            granted, null = step.fields["credits"], step.fields["null"]
            self._things[step.subject] = Callbacks(conn, granted, null)

    def _client_owner(self, _):
        owner = self._bench.client_owner()
        self._bench.discard_client(owner)
        return owner

    def _offer(self, step):
        fields = step.fields
        conn = self._things.get(fields["conn"])
        if conn is None:
            return
        can = conn.raw.capabilities
        base = fields["base"] if can.chosen_base else None
        content = self._symbols.in_octets(fields["content"])
        if len(content) != fields["length"]:
            raise ValueError("memory has another length than its content")
        rights = {"read": fields["read"], "write": fields["write"]}
        offer = conn.offer(fields["length"], **rights, base=base, content=content)
        offer.offered = [tuple(part) for part in fields.get("offered", [])]
        self._things[step.subject] = offer
        self._stags[offer.stag] = step.subject
        self._symbols.memory(fields["stag"], fields["base"], offer)

    # -- what is done with them ------------------------------------------------------------------

    def _send(self, step):
        subject = self._subject(step.subject)
        if not hasattr(subject, "next_xid"):
            return self._on_subject(step)
        fields = dict(step.fields)
        if self._answers_nothing(fields["message"]):
            return None
        message = self._message(fields.pop("message"), subject)
        self._messages[step.number] = message
        if fields.get("fault") is not None:
            given = {name: each for name, each in fields["fault"].items() if each is not None}
            fields["fault"] = fabric.Fault(**given)
        return subject.send(message, **fields)

    def _answers_nothing(self, kept):
        """Whether a message of the recording replies to a call of the target that did not come now."""
        return (
            isinstance(kept, dict)
            and "asked" not in kept
            and kept.get("octets", b"")[:4] in self._uncalled
        )

    def _raw(self, step):
        conn = self._subject(step.subject)
        name = step.fields["method"]
        if conn is None or name not in _ON_RAW:
            return
        arguments = [self._argument(each) for each in step.fields["arguments"]]
        if name == "wait":
            arguments = [min(each, LONGEST_WAIT_MS) for each in arguments]
        try:
            getattr(conn.raw, name)(*arguments, **step.fields.get("named", {}))
        except fabric.FabricError as error:
            # This target may have ended the connection where that of the recording had not.
            if error.code != fabric.ErrorCode.not_connected:
                raise

    def _argument(self, value):
        if isinstance(value, str):
            return self._things[value].region
        return self._symbols.in_octets(value) if isinstance(value, bytes) else value

    def _on_subject(self, step):
        subject = self._subject(step.subject)
        if subject is None:
            return None  # the step that made it was left out
        if step.kind in _OF_FILES and step.subject == FILES:
            return getattr(subject, step.kind)
        if step.kind not in _allowed(step.subject):
            raise NotTestable(f"the recording has a step {step.kind!r}, which is unknown here")
        fields = {name: self._field(name, each, subject) for name, each in step.fields.items()}
        if fields.get("timeout_ms") is not None or step.kind == "wait":
            fields["timeout_ms"] = self._timeout_ms(step)
        return getattr(subject, step.kind)(**fields)

    def _timeout_ms(self, step):
        """What came in a moment may take longer this time; where nothing came nothing is waited for."""
        given = step.fields.get("timeout_ms")
        if is_glance(step.fields) and not step.came:
            return given
        if step.kind == "wait" and (step.came or given is None):
            # A server calls when its own time has come.
            return min(self._bench.deadlines.answer_ms, self._longest_wait_ms)
        return min(max(given, self._bench.deadlines.patience_ms), self._longest_wait_ms)

    def _field(self, name, value, subject):
        if name == "message":
            return self._message(value, subject)
        if name == "calls":
            return [self._message(each, subject) for each in value]
        return self._symbols.in_octets(value) if isinstance(value, bytes) else value

    def _message(self, kept, conn):
        """What the recording kept of a message, ready to be sent or waited for."""
        if isinstance(kept, bytes):
            return self._octets(kept, conn)
        if "sent" in kept:
            return self._messages[kept["sent"]]
        octets = self._octets(kept["octets"], conn)
        if "asked" not in kept:
            return octets
        if not conn.has_header:
            return RecordCall(kept["xid"], octets, *kept["asked"])
        return self._call(octets, kept)

    def _octets(self, kept, conn):
        return (self._symbols.in_message if conn.has_header else self._symbols.in_octets)(kept)

    def _call(self, octets, kept):
        call = Call(kept["xid"], b"", *kept["asked"], 0)
        draft = wire.draft_of(octets)
        for field in dataclasses.fields(wire.Draft):
            setattr(call, field.name, getattr(draft, field.name))
        call.whole = call.payload
        call.xid = kept["xid"] if draft.xid == kept["xid"] else draft.xid
        call.offers = [self._things[name] for name in kept["memory"] if name in self._things]
        return call

    # -- what came -------------------------------------------------------------------------------

    def _learn(self, step, result):
        number = step.number
        if isinstance(result, dict):
            for xid, outcome in result.items():
                self._came[number, xid] = outcome
                self._outcome(step, (step.came or {}).get(str(xid)), outcome)
            return
        taker = self._things.get(step.subject)
        plain = isinstance(taker, Callbacks) and not isinstance(result, Callback)
        self._came[number, None] = Heard(result, taker) if plain else result
        if isinstance(result, Outcome):
            self._outcome(step, step.came, result)
        elif step.kind == "wait" and step.came and result is None:
            self._uncalled.add(step.came["octets"][:4])
        elif isinstance(result, Callback):
            recorded = (step.came or {}).get("octets", b"")
            self._symbols.callback(recorded, result.message.bytes)
        elif isinstance(result, str) and step.kind in _NAMES:
            self._symbols.text(step.came, result)
        elif isinstance(result, Message) or result is None:
            self._heard(step, step.came, result.bytes if result else b"")
        elif isinstance(result, bytes) and step.subject == FILES and step.kind != "read":
            self._symbols.handle(step.came, result)

    def _outcome(self, step, recorded, outcome):
        before = recorded.get("kind") if isinstance(recorded, dict) else None
        self._parted |= before is not None and _is_other(before, outcome.kind)
        self._heard(step, recorded, outcome.raw)
        octets = recorded.get("octets") if isinstance(recorded, dict) else None
        if isinstance(outcome.result, CompoundReply) and isinstance(octets, bytes):
            result = recorded_result(octets, outcome.conn.has_header)
            if result is not None:
                self._symbols.results(result, outcome.result)

    def _heard(self, step, recorded, now):
        if isinstance(recorded, dict) and isinstance(recorded.get("octets"), bytes):
            has_header = getattr(self._subject(step.subject), "has_header", False)
            self._symbols.message(recorded["octets"], now, has_header)

    # -- what is judged --------------------------------------------------------------------------

    def _expect(self, step):
        fields = step.fields
        outcome = self._seen(fields["seen"])
        if outcome is not None:
            names = ("must", "should", "latitude", "warn")
            sets = {name: fields[name] for name in names if name in fields}
            expect(outcome, fields["requirement"], **sets)

    def _seen(self, where):
        return self._came.get(tuple(where))

    def _check(self, step):
        """Judges as the case did, unless the conversation took another turn before: what the case would
        have judged then is not known."""
        if self._parted:
            return
        fields = step.fields
        values = self._judged_values(fields)
        holds = _RELATIONS[fields["relation"]]
        if any(_holds(holds, *pair) for pair in values):
            return
        if fields["around"] and not self._is_around(fields["around"]):
            return
        if values and fields["show"] and values[0][0] != fields["actual"]:
            judge = getattr(expect, fields["relation"])
            judge(*values[0], fields["requirement"], fields["what"])
        elif values or fields["around"]:
            detail = "what came is what came when it was recorded"
            if Verdict(fields["verdict"]) is Verdict.FAIL:
                raise Failed(fields["reason"], detail)
            current_run().note(Verdict(fields["verdict"]), fields["reason"], detail)

    def _judged_values(self, fields):
        """(value, expected) of each thing that had the wrong value: it is wrong again if all have a wrong
        one."""
        found = []
        for where, path, beside, part in fields["sources"]:
            value = self._value(where, path, part, fields["actual"])
            if value is not None:
                expected = self._value(*beside, fields["expected"]) if beside else None
                found.append((value, fields["expected"] if expected is None else expected))
        return found

    def _value(self, where, path, part, recorded):
        """What stands there now; of a part of octets, what `recorded` has too where it is blanked."""
        value = as_plain(self._values(where).get(path))
        if part is None or not isinstance(value, bytes):
            return value
        start, blanks = part
        return blanked(value[start : start + len(recorded)], blanks, recorded)

    def _is_around(self, around):
        """Whether the same has come as far as it is to come."""
        came = [(where, values) for where, values in around if tuple(where) in self._came]
        return bool(came) and all(
            values.items() <= surroundings(self._seen(where), self._memory_of).items()
            for where, values in came
        )

    def _values(self, where):
        """The table of what came, or of memory."""
        thing = self._things.get(where[0]) if isinstance(where[0], str) else self._seen(where)
        if thing is None and tuple(where) not in self._came:
            return {}
        return values_of(thing, self._memory_of)

    def _memory_of(self, stag):
        name = self._stags.get(stag)
        return ("foreign", None) if name is None else (name, self._things[name].base)


# Steps that the player itself knows how to do.
_OWN = ("connect", "connect_tcp", "stream", "offer", "send", "raw", "expect", "check")
_OWN += ("callbacks", "client_owner")
# Those that give a name which later messages hold.
_NAMES = ("base_name", "client_owner")


def _allowed(subject):
    if subject == FILES:
        return _ON_FILES
    kinds = {"c": _ON_CONNECTION, "s": _ON_STREAM, "m": ("close",), "b": _ON_CALLBACKS}
    return _ON_CONNECTION if subject == HELPER else kinds.get(subject[:1], ())


def _is_other(before, now):
    """Whether two kinds of outcomes differ by more than how a connection ended."""
    return before != now and not (before in kinds.CLOSED and now in kinds.CLOSED)


def _holds(relation, value, expected):
    try:
        return relation(value, expected)
    except TypeError:  # of another type than what was compared
        return False

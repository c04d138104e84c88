"""Does again what a recording holds, with the bench of a case: the same actions in the same order, and the
same judgements."""

import dataclasses

from .. import fabric, wire
from ..suite.call import Call, RecordCall
from ..suite.callbacks import Callback, Callbacks
from ..suite.expectation import expect
from ..suite.files import FILES, HELPER
from ..suite.message import Message
from ..suite.observation import as_plain, stable, values_of
from ..suite.outcome import Outcome
from ..suite.verdict import Failed, NotTestable
from .symbols import Symbols

# What a recording may do, by what it is done to.
_ON_CONNECTION = ("receive", "await_outcome", "collect_sent", "probe", "wait_closed", "wait_event")
_ON_CONNECTION += ("close", "abort", "work", "lose_sight", "send_octets", "end")
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


class Player:
    """One run of a recording's steps."""

    def __init__(self, recording, bench):
        self._recording = recording
        self._bench = bench
        self._symbols = Symbols()
        self._things = {}  # connections, streams and memory by the recording's names
        self._messages = {}  # what was sent, by the number of its step
        self._came = {}  # (number, XID or None): what came of a step
        self._stags = {}  # steering tag: name of its memory

    def play(self):
        """Ends as the case did: by returning, or with what a judgement raises."""
        if self._recording.gap:
            raise NotTestable(f"the recording has a gap: {self._recording.gap}")
        for step in self._recording.steps:
            self._do(step)

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
        message = self._message(fields.pop("message"), subject)
        self._messages[step.number] = message
        if fields.get("fault") is not None:
            given = {name: each for name, each in fields["fault"].items() if each is not None}
            fields["fault"] = fabric.Fault(**given)
        return subject.send(message, **fields)

    def _raw(self, step):
        conn = self._subject(step.subject)
        name = step.fields["method"]
        if conn is None or name not in _ON_RAW:
            return
        arguments = [self._argument(each) for each in step.fields["arguments"]]
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
        return getattr(subject, step.kind)(**fields)

    def _field(self, name, value, subject):
        if name == "timeout_ms" and value:
            return max(value, self._bench.deadlines.patience_ms)
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
                self._heard(step, (step.came or {}).get(str(xid)), outcome.raw)
            return
        self._came[number, None] = result
        if isinstance(result, Outcome):
            self._heard(step, step.came, result.raw)
        elif isinstance(result, Callback):
            recorded = (step.came or {}).get("octets", b"")
            self._symbols.callback(recorded, result.message.bytes)
        elif isinstance(result, str) and step.kind in _NAMES:
            self._symbols.text(step.came, result)
        elif isinstance(result, Message) or result is None:
            self._heard(step, step.came, result.bytes if result else b"")
        elif isinstance(result, bytes) and step.subject == FILES and step.kind != "read":
            self._symbols.handle(step.came, result)

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
        """Fails as the case did if the value that it judged is wrong again."""
        fields = step.fields
        if fields["sources"]:
            self._check_value(fields)
        elif fields.get("seen") is not None and tuple(fields["seen"]) in self._came:
            now = stable(self._values(fields["seen"]))
            if fields["values"].items() <= now.items():
                raise Failed(fields["reason"], "what came is what came when it was recorded")

    def _check_value(self, fields):
        """Several things may have had the value that was wrong; it is wrong again if all have a wrong
        one."""
        holds = _RELATIONS[fields["relation"]]
        values = []
        for where, path, beside in fields["sources"]:
            table = self._values(where)
            if path in table:
                expected = self._values(beside[0]).get(beside[1]) if beside else None
                expected = fields["expected"] if expected is None else expected
                values.append((as_plain(table[path]), as_plain(expected)))
        if not values or any(_holds(holds, *pair) for pair in values):
            return
        value, expected = values[0]
        if not fields["show"] or value == fields["actual"]:
            raise Failed(fields["reason"], f"expected {expected!r}, saw {value!r}")
        judge = getattr(expect, fields["relation"])
        judge(value, expected, fields["requirement"], fields["what"])

    def _values(self, where):
        if tuple(where) not in self._came:
            return {}
        return values_of(self._seen(where), lambda stag: self._stags.get(stag, "foreign"))


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


def _holds(relation, value, expected):
    try:
        return relation(value, expected)
    except TypeError:  # of another type than what was compared
        return False

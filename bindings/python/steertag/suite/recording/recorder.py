"""Records what a case does to its target, so that it can be done again without the case's code: actions
in order, what came of each, and what was expected.

What a case uses of the bench, its connections, files, memory and streams is recorded where the case
enters it; what happens inside (probes, preparation, settling) happens inside again when the action is
repeated."""

import collections
import contextlib
import dataclasses
import weakref

from ... import fabric, wire
from ..exchange.call import Asked
from ..exchange.callbacks import Callback
from ..exchange.deadline import PATIENCE_FLOOR_MS
from ..exchange.message import Message
from ..exchange.outcome import Outcome
from ..nfs_client.case_files import FILES
from ..rdma.connection import Connection
from .likeness import find, within
from .observation import as_plain, CannotKeep, Heard, surroundings, values_of
from .recording_file import MOST_ACTIONS, MOST_OCTETS, Step

# What came last, in which the value that a case judges is looked for, and places where it is found.
MOST_RECENT = 64
MOST_SOURCES = 1024
# Numbers up to this one occur in messages all the time.
MOST_COMMON = 0xFFFF
# Octets that hardly occur by chance.
SHORTEST_RARE = 8
_FAULTS = ("bad_crc", "msn", "mo", "qn", "opcode", "ddp_version", "rdmap_version", "ulpdu_length")
FAULT_FIELDS = (*_FAULTS, "cut_after")


@dataclasses.dataclass(eq=False)
class Action:
    """One step of a case. `subject` names what it was done to: "c0" a connection, "m0" memory, "s0" a
    stream, "files" the helper, "" the bench. `fields` are JSON types and octets; `state` is where the
    subject's numbering stood: the last XID of a connection, the count of names of the files."""

    kind: str
    subject: str
    fields: dict
    state: int | None = None
    came: object = None
    index: int | None = None  # its place in the recording; None of one that was left out


def step_of(action):
    """The recording.Step of an Action."""
    return Step(action.index, action.kind, action.subject, action.fields, action.state, action.came)


class Recorder:
    """Collects the actions of one run of a case."""

    def __init__(self):
        self.actions = []
        self.gap = ""  # why the recording cannot be repeated; "" if it can
        self._depth = 0
        self._octets = 0
        self._names = {}  # id: (what is named, its name)
        self._counts = collections.Counter()
        self._sent = {}  # id of a message: (the message, index of the action that sent it)
        self._outcomes = {}  # id of an Outcome: (weak reference, [action, XID or None])
        self._recent = collections.deque(maxlen=MOST_RECENT)  # ([action, XID], what came)
        self._offers = []  # (Action, memory.Offer)
        self._subjects = {}  # name: callbacks.Callbacks

    # -- what is recorded ------------------------------------------------------------------------

    @property
    def listening(self):
        """Whether the next call of a recorded method is one of the case itself."""
        return self._depth == 0

    @contextlib.contextmanager
    def inside(self):
        """What is done within belongs to an action, or to the harness."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @contextlib.contextmanager
    def doing(self, kind, subject, fields, state=None):
        """Records one action; what it does inside is not. Yields the Action, or None inside of one."""
        if not self.listening:
            yield None
            return
        action = self._append(Action(kind, self.name_of(subject), self._kept(fields), state))
        with self.inside():
            yield action

    def ended(self, action, result):
        """What came of an action."""
        if action is not None and action.index is not None:
            action.came = self._came(action.index, result)

    def _append(self, action):
        if len(self.actions) >= MOST_ACTIONS:
            self.gap = f"the case does more than {MOST_ACTIONS} things"
        elif self._octets > MOST_OCTETS:
            self.gap = f"the case uses more than {MOST_OCTETS >> 20} MiB"
        else:
            action.index = len(self.actions)
            self.actions.append(action)
        return action

    # -- names -----------------------------------------------------------------------------------

    def name(self, thing, prefix, number=None):
        """Gives a thing its name for as long as the recording lasts."""
        if number is None:
            number = self._counts[prefix]
            self._counts[prefix] += 1
        self._names[id(thing)] = thing, f"{prefix}{number}"
        return self._names[id(thing)][1]

    def call(self, thing, name):
        """Gives a thing this name."""
        self._names[id(thing)] = thing, name

    def name_of(self, thing):
        if isinstance(thing, str):
            return thing
        known = self._names.get(id(thing))
        return known[1] if known is not None and known[0] is thing else ""

    def memory(self, offer, fields):
        """A registered region as an action; the segments that the case hands out later belong to it."""
        self.call(offer.region, self.name(offer, "m"))
        fields = {**fields, "stag": offer.stag, "base": offer.base, "content": offer.filled}
        action = self._append(Action("offer", self.name_of(offer), self._kept(fields)))
        self._offers.append((action, offer))

    def callbacks(self, taker, fields):
        """What takes the target's own calls on a connection from now on, as an action."""
        name = self.name(taker, "b")
        self._subjects[name] = taker
        if self.listening:
            self._append(Action("callbacks", name, self._kept(fields)))

    # -- expectations ----------------------------------------------------------------------------

    def expect(self, outcome, requirement_id, sets):
        """The judgement of an outcome's kind."""
        if not self.listening:
            return
        seen = self._where(outcome)
        if seen is None:
            self.gap = self.gap or "a case judges an outcome that it made up itself"
            return
        fields = {"seen": seen, "requirement": requirement_id, **sets}
        self._append(Action("expect", "", self._kept(fields)))

    def check(self, requirement_id, reason, outcome, judged, verdict):
        """A judgement of a value that is not as it should be. Where the value came from is found out:
        whatever came lately and is equal to it. What nothing is equal to, or too much because it occurs
        everywhere, is judged by its surroundings too: the same things came, so the same was wrong.
        """
        if not self.listening:
            return
        fields = {"relation": judged.relation, "requirement": requirement_id, "reason": reason}
        fields |= {"what": judged.what, "show": judged.show, "verdict": verdict.value}
        recent = list(reversed(self._recent))
        where = self._where(outcome) if outcome is not None else None
        if where is not None:
            recent = [(where, outcome)] + [each for each in recent if each[1] is not outcome]
        try:
            plain = as_plain(judged.actual)
            fields |= {"actual": plain, "expected": as_plain(judged.expected)}
            sources = self._sources(recent, plain, fields["expected"])
            fields["sources"] = [] if judged.relation == "true" else sources[:MOST_SOURCES]
        except CannotKeep:
            fields["sources"] = []
        near = recent[:1] if where is not None else recent
        sure = fields["sources"] and _is_rare(plain)
        fields["around"] = [] if sure else self._around(near)
        self._append(Action("check", "", self._kept(fields)))

    def _around(self, recent):
        """[where, values]: the surroundings of a judgement, which are the outcome that it names, or else
        the last that came from each thing."""
        latest = {}
        for where, seen in recent:
            action = self.actions[where[0]]
            if action.subject in ("", FILES) and action.kind != "read":
                continue  # names and handles
            if is_glance(action.fields) and not isinstance(seen, Heard):
                continue  # it may be too early or not
            latest.setdefault(action.subject, (where, seen))
        return [[where, surroundings(seen, self.memory_of)] for where, seen in latest.values()]

    def _sources(self, recent, actual, expected):
        """[where, path, beside, slice]: what came with this value, and in `beside` what came with the value
        that was expected, if that is one which hardly occurs by chance; the same thing rather than
        another, and decoded fields before words. `slice` is None, or [start, blanks] of likeness.find.
        """
        tables = [(where, values_of(seen, self.memory_of)) for where, seen in recent]
        tables += [
            ([self.name_of(offer), None], values_of(offer, None)) for _, offer in self._offers
        ]
        places = [
            [where, path, None]
            for where, table in (tables if _is_rare(expected) else ())
            for path, value in table.items()
            if type(value) is type(expected) and value == expected
        ]
        found = []
        for where, table in tables:
            beside = next((place for place in places if place[0] == where), None)
            beside = beside or next(iter(places), None)
            for path, value in table.items():
                if type(value) is type(actual) and value == actual:
                    found.append([where, path, beside, None])
        if found or not (type(actual) is type(expected) is bytes and len(actual) >= SHORTEST_RARE):
            return sorted(found, key=lambda source: source[1].startswith("word."))
        return self._parts(tables, actual, expected, next(iter(places), None))

    @staticmethod
    def _parts(tables, actual, expected, place):
        """The same for octets that are a part of what came, but for blanks: at most one, the likest. What
        was expected may be a part of another thing, with no other blanks."""

        def likest(octets, besides):
            parts = [
                (sum(end - begin for begin, end in part[1]), where, path, list(part))
                for where, table in tables
                for path, value in table.items()
                if type(value) is bytes and [where, path] != besides
                for part in [find(octets, value)]
                if part is not None
            ]
            return min(parts, key=lambda each: each[0], default=None)

        mine = likest(actual, None)
        if mine is None:
            return []
        _, where, path, part = mine
        theirs = likest(expected, [where, path]) if place is None else None
        if theirs is not None and within(theirs[3][1], part[1]):
            place = list(theirs[1:])
        if part[1] and place is None:
            return []  # what was expected has the same blanks, but nobody knows where it comes from
        return [[where, path, place, part]]

    def _where(self, outcome):
        known = self._outcomes.get(id(outcome))
        return known[1] if known is not None and known[0]() is outcome else None

    def memory_of(self, stag):
        """Name and base of the memory that has this steering tag; "foreign" and None if none has."""
        owner = next((offer for _, offer in self._offers if offer.stag == stag), None)
        return ("foreign", None) if owner is None else (self.name_of(owner), owner.base)

    # -- values ----------------------------------------------------------------------------------

    def _kept(self, value):
        """The value as it stands now, in JSON types and octets."""
        if isinstance(value, (Asked, wire.Draft)):
            return self._message(value)
        if isinstance(value, dict):
            return {key: self._kept(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._kept(each) for each in value]
        if isinstance(value, (bytes, bytearray, memoryview)):
            self._octets += len(value)
            return bytes(value)
        if isinstance(value, fabric.Fault):
            return {name: getattr(value, name) for name in FAULT_FIELDS}
        if self.name_of(value) and not isinstance(value, str):
            return self.name_of(value)
        try:
            return as_plain(value)
        except CannotKeep as problem:
            self.gap = self.gap or str(problem)
            return None

    def _message(self, message):
        """A message of the suite's own types: a call that was sent before is known by its action."""
        known = self._sent.get(id(message))
        if known is not None and known[0] is message:
            return {"sent": known[1]}
        octets = message.payload if not isinstance(message, wire.Draft) else wire.encode(message)
        kept = {"octets": self._kept(bytes(octets))}
        if isinstance(message, Asked):
            kept |= {"xid": message.xid, "asked": list(message.asked)}
        kept["memory"] = [self.name_of(offer) for offer in getattr(message, "offers", ())]
        return kept

    def sending(self, message, invalidate=None, fault=None, subject="", state=None, more=None):
        """The action of a message that leaves now: its octets as they are now, whatever the case does
        to it later."""
        self._sent.pop(id(message), None)
        fields = {"message": message, "invalidate": invalidate, "fault": fault, **(more or {})}
        fields = {name: value for name, value in fields.items() if value is not None}
        action = self._append(Action("send", self.name_of(subject), self._kept(fields), state))
        self._sent[id(message)] = message, action.index

    def _came(self, index, result):
        """What came of the action, in JSON types; remembered for what the case judges next."""
        if isinstance(result, Outcome):
            return self._outcome([index, None], result)
        if isinstance(result, dict):
            return {
                str(xid): self._outcome([index, xid], outcome) for xid, outcome in result.items()
            }
        if isinstance(result, (Message, Callback)):
            self._recent.append(([index, None], result))
            message = result.message if isinstance(result, Callback) else result
            return {"octets": self._kept(message.bytes)}
        if isinstance(result, Connection):
            self._recent.append(([index, None], result))
            return {"private_data": self._kept(result.server_private_data)}
        if result is None or isinstance(result, (bool, int, str, bytes)):
            subject = self._subjects.get(self.actions[index].subject)
            heard = Heard(result, subject) if subject is not None else result
            self._recent.append(([index, None], heard))
            return self._kept(result)
        return None

    def _outcome(self, where, outcome):
        self._recent.append((where, outcome))
        self._outcomes[id(outcome)] = weakref.ref(outcome), where
        came = {"kind": outcome.kind}
        if outcome.raw:
            came["octets"] = self._kept(outcome.raw)
        return came

    def whole(self):
        """The actions, with what only shows after the case: which parts of memory were handed out."""
        for action, offer in self._offers:
            action.fields["offered"] = [list(part) for part in offer.offered]
        return self.actions


def is_glance(fields):
    """Whether the fields of an action say that it waits for too short a time to prove anything."""
    timeout_ms = fields.get("timeout_ms")
    return timeout_ms is not None and timeout_ms < PATIENCE_FLOOR_MS


def _is_rare(value):
    """Whether a value hardly occurs by chance."""
    if type(value) is int:
        return value > MOST_COMMON
    return type(value) is bytes and len(value) >= SHORTEST_RARE

"""One connection of a recording while it is played again: what was posted and came then, and now."""

from ..suite.cases.case_end import NotTestable
from ..suite.exchange.callbacks import encode_reply, REVERSE_CREDITS
from ..suite.exchange.deadline import Limit
from ..suite.exchange.message import Message
from ..suite.exchange.outcome import of_message, of_record
from ..suite.nfs_client.compound import CompoundReply
from ..suite.recording.stream_tap import records
from .asked import message_asked, record_asked
from .facts import first_difference, message_facts
from .fragments import in_fragments

# Messages that wait for their turn.
MOST_KEPT = 4096
_XID = slice(0, 4)


class Conversation:
    """`steps` are those of the connection in the recording, `asked` what its expectations know of calls:
    {XID: (program, version, procedure)}."""

    def __init__(self, conn, tap, steps, asked, symbols, memory):
        self.conn = conn
        self.has_missed = False  # Something of the recording has not come now.
        self._tap = tap
        self._symbols = symbols
        self._memory = memory
        self._known = asked
        self._has_header = conn.has_header
        self._stash = []  # Messages that came before their turn.
        self._came = {}  # Number of a step: the Message in its place.
        self._outcomes = {}  # XID: Outcome of a call that was concluded before it was judged.
        self._calls = {}  # XID in the recording: the last _Asked with it.
        self._last = None  # The last call.
        self._start = 0  # The first entry of the tap's log that the recording has too.
        self._then = []  # (kind, fields) that came in the recording.
        self._uncalled = set()  # XIDs of calls of the target that did not come now.
        self._unsent = b""  # Octets of a record that was not sent whole yet.
        self._parting = ""  # The first difference from the recording; "" if there is none.
        received = [step.fields["octets"] for step in steps if step.kind == "received"]
        self._awaited = [each[_XID] for each in received]

    def restart(self):
        """What has passed so far is no part of what is compared: the bench posted it for itself."""
        self._start, self._then, self._last = self._tap.position, [], None
        for asked in self._calls.values():
            asked.position = 0

    # -- what is posted ------------------------------------------------------------------------

    def send(self, step, invalidate, fault):
        octets = step.fields["octets"]
        if octets[_XID] in self._uncalled:
            return  # it answers a call of the target that has not come
        if self._has_header:
            self._send_message(octets, invalidate, fault)
        else:
            self._send_octets(octets)

    def _send_message(self, octets, invalidate, fault):
        now = self._symbols.in_message(octets)
        offers, then = self._memory.named_in(octets)
        known = self._known.get(int.from_bytes(octets[_XID], "big"))
        asked = message_asked(octets, now, known, offers, then)
        self._remember(octets[_XID], asked)
        for offer in asked.offers:
            offer.sent = True
        self.conn.send(now, invalidate=invalidate, fault=fault)

    def _send_octets(self, octets):
        """Octets of a stream, which may be a part of a record."""
        now = in_fragments(octets, self._symbols.in_octets)
        self._unsent += octets
        for record, _, self._unsent in records(self._unsent):
            known = self._known.get(int.from_bytes(record[_XID], "big"))
            self._remember(record[_XID], record_asked(record, known))
        self.conn.send_octets(now)

    def _remember(self, xid, asked):
        asked.position, asked.position_now = len(self._then), self._tap.position
        self._calls[int.from_bytes(xid, "big")] = asked
        if not asked.is_reply:
            self._last = asked

    def flush(self):
        """What was posted leaves now."""
        if self.conn.open:
            self.conn.work()

    def end(self, kind):
        """Our end of the connection: in order, by a reset, or of our half."""
        if kind == "end":
            self.conn.end()
        elif self.conn.open:
            self.conn.close() if kind == "close" else self.conn.abort()

    # -- what comes ----------------------------------------------------------------------------

    def note(self, step):
        """What came in the recording."""
        self._then.append((step.kind, step.fields))

    def receive(self, step, limit):
        """A message of the recording: waits for the one in its place."""
        self.note(step)
        then = step.fields["octets"]
        self._awaited.remove(then[_XID])
        is_call = self._is_call(Message(then))
        now = self._take(then[_XID], is_call, limit)
        self._came[step.number] = now
        self._learn(then, now, is_call)

    def _take(self, xid, is_call, limit):
        """The message with this XID, or a call of the target. An unknown message takes its place. None if the
        time passes or the connection ends."""
        for each in self._stash:
            if self._is_call(each) == is_call and (is_call or each.bytes[_XID] == xid):
                self._stash.remove(each)
                return each
        for _ in range(MOST_KEPT):
            message = self.conn.receive(limit.left_ms)
            if message is None:
                break
            if self._is_call(message):
                if is_call:
                    return message
                self._unforeseen(message)
            elif message.bytes[_XID] == xid or not (is_call or self._is_known(message)):
                return message
            else:
                self._keep(message)
        self.has_missed = True
        self._parting = self._parting or "a message of the recording did not come"
        return None

    def _is_known(self, message):
        xid = message.bytes[_XID]
        return xid in self._awaited or int.from_bytes(xid, "big") in self._calls

    def _is_call(self, message):
        return self._callback(message) is not None

    def _callback(self, message):
        return self.conn.read_callback(message)

    def _unforeseen(self, message):
        """A call of the target out of turn. If the recording has none, it gets a legal answer."""
        callback = self._callback(message)
        if any(self._is_call_then(each) for each in self._awaited):
            self._keep(message)
        elif callback.is_sound and not callback.recalled:
            reply = encode_reply(callback)
            self.conn.send(self.conn.reverse_message(callback.xid, reply, REVERSE_CREDITS))

    def _is_call_then(self, xid):
        return int.from_bytes(xid, "big") not in self._calls

    def _learn(self, then, now, is_call):
        octets = now.bytes if now is not None else b""
        if is_call and now is None:
            self._uncalled.add(then[_XID])
        elif is_call:
            self._symbols.callback(then, octets)
        else:
            self._symbols.message(then, octets, self._has_header)
        if now is None or is_call:
            return
        before, outcome = self._read_then(Message(then)), self._read(now)
        if before.kind != outcome.kind and not self._parting:
            self._parting = f"{outcome.kind} came, and {before.kind} in the recording"
        if isinstance(before.result, CompoundReply) and isinstance(outcome.result, CompoundReply):
            self._symbols.results(before.result, outcome.result)

    def _asked_by(self, message):
        return self._calls.get(message.xid)

    def _read(self, message):
        asked = self._asked_by(message)
        return self._outcome_of(asked and asked.now, message)

    def _read_then(self, message):
        asked = self._asked_by(message)
        return self._outcome_of(asked and asked.then, message)

    def _outcome_of(self, call, message):
        return (of_message if self._has_header else of_record)(self.conn, call, message)

    def await_end(self, step, limit):
        """The target ended the connection in the recording."""
        self.note(step)
        self._keep_all(limit)
        self.has_missed |= self.conn.open

    def wait(self, timeout_ms):
        """Takes what comes in this time, which nothing did in the recording."""
        if timeout_ms == 0:
            self.conn.work()
        else:
            self._keep_all(Limit(timeout_ms))

    def _keep_all(self, limit):
        """Takes what comes out of turn until the limit, or the end of the connection."""
        while self.conn.open and not limit.passed:
            message = self.conn.receive(limit.left_ms)
            if message is None:
                continue
            if self._is_call(message):
                self._unforeseen(message)
            else:
                self._keep(message)

    def _keep(self, message):
        self._stash.append(message)
        if len(self._stash) > MOST_KEPT:
            raise NotTestable(f"the target sends more than {MOST_KEPT} messages out of turn")

    # -- what is judged ------------------------------------------------------------------------

    def conclude_calls_of(self, step, offer):
        """What comes of a call that offers this memory, where the recording has no answer behind it."""
        for xid, asked in self._calls.items():
            if asked.is_concluded or offer not in asked.offers:
                continue
            if xid.to_bytes(4, "big") in self._awaited:
                continue  # the case took its memory away early
            asked.is_concluded = True
            outcome = self._found(xid)
            if outcome is None and self.conn.open:
                outcome = self.conn.await_outcome(asked.now, xid, keep=True)
            elif outcome is not None:
                self.conn.check_memory(asked.now, outcome)
            if outcome is not None:
                self._outcomes[xid] = outcome

    def _found(self, xid):
        """The Outcome of what has come with this XID."""
        came = [each for each in self._came.values() if self._is_reply_to(each, xid)]
        stashed = next((each for each in self._stash if self._is_reply_to(each, xid)), None)
        if stashed is not None:
            self._stash.remove(stashed)
            came.append(stashed)
        return self._read(came[-1]) if came else None

    def _is_reply_to(self, message, xid):
        return message is not None and message.xid == xid and not self._is_call(message)

    def outcome(self, seen, xid):
        """The Outcome of a message now, which step `seen` of the recording had answered, if any."""
        message = self._came.get(seen)
        if message is not None:
            return self._read(message)
        found = self._found(xid) or self._outcomes.get(xid)
        if found is None:
            asked = self._calls.get(xid)
            sent = (asked.now or asked.octets) if asked else xid.to_bytes(4, "big")
            found = self.conn.await_outcome(sent, xid, keep=True)
        return found

    def difference(self, xid):
        """How what came differs from what came in the recording; "" if it does not. It counts what came since
        the call with this XID, or the last call, all calls of the target, and how the connection began.
        """
        if self._parting:
            return self._parting
        if self._stash:
            return f"{len(self._stash)} messages came that the recording does not have"
        asked = self._calls.get(xid) or self._last
        then, now = (asked.position, asked.position_now) if asked else (0, 0)
        now = max(now, self._start)
        came = list(self._tap.came(self._start, now)), list(self._tap.came(now, self._tap.position))
        before = self._facts_of(self._then[:then], self._then[then:], True)
        after = self._facts_of(*came, False)
        return "" if before == after else first_difference(before, after)

    def _facts_of(self, context, items, is_then):
        """Facts of the calls of the target, which may come at any time, and of all else."""
        calls = [each for each in (*context, *items) if self._is_reverse(each)]
        begun = [each for each in context if each[0] in ("accepted", "rejected")]
        others = [each for each in items if not self._is_reverse(each)]
        return [self._facts(each, is_then) for each in (*calls, *begun, *others)]

    def _is_reverse(self, item):
        kind, fields = item
        return kind == "received" and self._is_call(Message(fields["octets"]))

    def _facts(self, item, is_then):
        """What of one thing that came is the same in each run: {path: value}."""
        kind, fields = item
        if kind == "received":
            message = Message(fields["octets"], 0 if "invalidated" in fields else None)
            asked = self._asked_by(message)
            call = asked and (asked.then if is_then else asked.now)
            found = message_facts(message, call, self._has_header, self._replies(is_then))
            return found | {"fragments": fields.get("fragments")}
        if "memory" in fields:
            name = fields["memory"] if is_then else self._memory.name_of(fields["memory"])
            return {kind: name, "offset": fields["offset"], "length": fields["length"]}
        return {kind: fields}

    def _replies(self, is_then):
        """Octets of all messages of the target that are no calls."""
        came = self._then if is_then else self._tap.came(0, self._tap.position)
        messages = (Message(fields["octets"]) for kind, fields in came if kind == "received")
        return [each.bytes for each in messages if not self._is_call(each)]

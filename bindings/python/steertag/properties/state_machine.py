"""Conversations with a server as a state machine of hypothesis.

Connections open and end, calls have every form, and the content of files is known. The judge, the
memory oracle and the probe watch as in every case. Two assertions are added: each call gets an
answer, and data read are the data written."""

import dataclasses
import sys

from hypothesis import reject, strategies as st
from hypothesis.errors import StopTest
from hypothesis.stateful import initialize, precondition, rule, RuleBasedStateMachine

from .. import wire
from ..suite.cases.case_end import CaseEnd
from .source import source
from .strategies import changes, legal_private_data, sizes

ANSWERED = "RFC8166-3.3.3-1"
READ_DATA, WRITTEN = "RFC8267-4-3", "RFC8267-4-1"
HANDLED = "RFC8166-4.5-2"
SHORT, VERSION, BROKEN = "RFC8166-4.5-1", "RFC8166-4.5.1-1", "RFC8166-4.5.2-1"
# The ids that handled_line asserts.
OF_BROKEN = (HANDLED, SHORT, VERSION, BROKEN)
MOST_CONNECTIONS = 3
MOST_FILES = 2
MOST_CONTENT = 4096
# Octets of a result or argument that is inline on every connection.
INLINE = 512
CHUNK = 8192
SEEDS = st.integers(0, 99)


@dataclasses.dataclass
class _Asked:
    """A call in flight: its name, the kinds of a right answer, and lines on its result,
    `{outcome}`."""

    name: str
    must: list
    lines: list
    file: str = ""  # that the call writes


class ScriptedMachine(RuleBasedStateMachine):
    """Every rule writes lines of a script, which run at once."""

    explorer = None

    def __init__(self):
        super().__init__()
        self.trial = self.explorer.begin()
        self.over = False

    def teardown(self):
        self.trial.finish()
        if self.over and not isinstance(sys.exc_info()[1], StopTest):
            # Without an applicable rule, hypothesis would report an error of the machine. It takes no
            # rejection of a trial that it has stopped itself.
            reject()

    def do(self, *lines):
        """Runs lines until one ends the case, and skips the others."""
        for line in lines:
            if self.over:
                return
            try:
                self.trial.script.do(line)
            except CaseEnd as end:
                self.trial.end(end)
                self.over = True

    def value(self, expression):
        return self.trial.script.value(expression)


class Conversation(ScriptedMachine):
    """The actions of a correct client."""

    def __init__(self):
        super().__init__()
        self.waiting = {}  # name of a connection: [_Asked]
        self.files = []  # names of files; the content of file1 is content1

    # -- helpers ---------------------------------------------------------------------------------

    def open_ones(self):
        """Names of open connections with room for a call."""
        if self.over:
            return []
        return [
            name
            for name, asked in self.waiting.items()
            if self.value(f"{name}.open and {name}.window > {len(asked)}")
        ]

    def has_room(self):
        return bool(self.open_ones())

    def has_room_and_file(self):
        return bool(self.files) and self.has_room()

    def is_written(self, file):
        """Whether a WRITE to the file is in flight."""
        return any(asked.file == file for calls in self.waiting.values() for asked in calls)

    def send(self, conn, call, asked):
        self.do(f"{conn}.send({call})")
        self.waiting[conn].append(asked)

    def forget(self, conn):
        """The fate of the calls on an ended connection is unknown, and so is the content of their
        files."""
        for asked in self.waiting.pop(conn):
            if asked.file in self.files:
                self.files.remove(asked.file)

    # -- the beginning ---------------------------------------------------------------------------

    @initialize(
        announced=st.none() | legal_private_data,
        credits=st.integers(1, 32),
        length=st.integers(0, MOST_CONTENT),
        seed=SEEDS,
    )
    def begin(self, announced, credits, length, seed):
        """Opens a connection and a file, because most rules need them. Hypothesis abandons a trial
        if none of its chosen rules applies."""
        if not self.over:
            self.connect(announced, credits)
            self.make_file(length, seed)

    # -- connections -----------------------------------------------------------------------------

    @precondition(lambda self: not self.over and len(self.waiting) < MOST_CONNECTIONS)
    @rule(announced=st.none() | legal_private_data, credits=st.integers(1, 32))
    def connect(self, announced, credits):
        conn = self.trial.script.new("conn")
        self.do(f"{conn} = bench.connect(private_data={source(announced)}, credits={credits})")
        if not self.over:
            self.waiting[conn] = []

    @precondition(lambda self: not self.over and self.waiting)
    @rule(data=st.data(), how=st.sampled_from(["close", "abort"]))
    def disconnect(self, data, how):
        conn = data.draw(st.sampled_from(list(self.waiting)))
        self.do(f"{conn}.{how}()")
        self.forget(conn)

    # -- files -----------------------------------------------------------------------------------

    @precondition(lambda self: not self.over and len(self.files) < MOST_FILES)
    @rule(length=st.integers(0, MOST_CONTENT), seed=SEEDS)
    def make_file(self, length, seed):
        file = self.trial.script.new("file")
        content = _content_of(file)
        self.do(f"{content} = bytearray(random.Random({seed}).randbytes({length}))")
        self.do(f"{file} = bench.file({content})")
        self.files.append(file)

    # -- calls -----------------------------------------------------------------------------------

    @precondition(has_room)
    @rule(data=st.data(), form=st.sampled_from(["inline", "reply_chunk", "long_call"]))
    def null(self, data, form):
        conn = data.draw(st.sampled_from(self.open_ones()))
        call = self.trial.script.new("call")
        self.do(f"{call} = {conn}.null_call()")
        self.do(*_form(conn, call, form))
        self.send(conn, call, _Asked(call, ["reply"], []))

    @precondition(has_room)
    @rule(data=st.data(), form=st.sampled_from(["inline", "reply_chunk", "long_call"]))
    def look_up_nothing(self, data, form):
        conn = data.draw(st.sampled_from(self.open_ones()))
        call = self.trial.script.new("call")
        what = '{"dir": bench.files.base, "name": "missing"}'
        self.do(f'{call} = {conn}.nfs_call("LOOKUP", what={what})', *_form(conn, call, form))
        self.send(conn, call, _Asked(call, ["nfs:NFS3ERR_NOENT"], []))

    @precondition(has_room_and_file)
    @rule(data=st.data(), offset=st.integers(0, MOST_CONTENT))
    def read(self, data, offset):
        conn = data.draw(st.sampled_from(self.open_ones()))
        file = data.draw(st.sampled_from(self.files))
        if self.is_written(file):
            return
        form = data.draw(st.sampled_from(["inline", "reply_chunk", "write_chunk"]))
        count = data.draw(st.integers(1, INLINE if form == "inline" else CHUNK))
        call = self.trial.script.new("call")
        self.do(f'{call} = {conn}.nfs_call("READ", file={file}, offset={offset}, count={count})')
        if form == "write_chunk":
            parts = data.draw(sizes(count))
            self.do(f"{conn}.write_chunk({call}, sizes={parts})")
        else:
            self.do(*_form(conn, call, form))
        self.send(conn, call, _Asked(call, ["reply"], _read_lines(_content_of(file), offset)))

    @precondition(has_room_and_file)
    @rule(data=st.data(), seed=SEEDS)
    def write(self, data, seed):
        conn = data.draw(st.sampled_from(self.open_ones()))
        file = data.draw(st.sampled_from(self.files))
        if any(self.waiting.values()):
            return  # the server chooses the order of two calls
        content = _content_of(file)
        offset = data.draw(st.integers(0, self.value(f"len({content})")))
        form = data.draw(st.sampled_from(["inline", "reduce", "long_call"]))
        length = data.draw(st.integers(1, INLINE if form == "inline" else CHUNK))
        call, octets = self.trial.script.new("call"), self.trial.script.new("data")
        self.do(f"{octets} = random.Random({seed}).randbytes({length})")
        fields = f"file={file}, offset={offset}, count={length}, stable=2, data={octets}"
        self.do(f'{call} = {conn}.nfs_call("WRITE", {fields})')
        if form == "reduce":
            self.do(f"{conn}.reduce({call}, {data.draw(sizes(length))})")
        else:
            self.do(*_form(conn, call, form))
        self.send(
            conn, call, _Asked(call, ["reply"], _written_lines(content, offset, octets), file)
        )

    @precondition(lambda self: not self.over and any(self.waiting.values()))
    @rule(data=st.data())
    def take_replies(self, data):
        conn = data.draw(st.sampled_from([name for name, asked in self.waiting.items() if asked]))
        self.take(conn)

    def take(self, conn):
        asked, self.waiting[conn] = self.waiting[conn], []
        outcomes = self.trial.script.new("outcomes")
        names = ", ".join(each.name for each in asked)
        self.do(f"{outcomes} = {conn}.collect_sent([{names}])")
        for each in asked:
            outcome = f"{outcomes}[{each.name}.xid]"
            self.do(f'expect({outcome}, "{ANSWERED}", must={each.must})')
            self.do(*(line.format(outcome=outcome) for line in each.lines))


class HostileConversation(Conversation):
    """A client that sends broken messages too, one at a time on its connection."""

    @precondition(
        lambda self: self.has_room() and any(not self.waiting[c] for c in self.open_ones())
    )
    @rule(data=st.data(), changed=changes(), base=st.sampled_from(["null", "read", "long_call"]))
    def spoil(self, data, changed, base):
        free = [conn for conn in self.open_ones() if not self.waiting[conn]]
        conn = data.draw(st.sampled_from(free))
        call, outcome = self.trial.script.new("call"), self.trial.script.new("outcome")
        if base == "read" and self.files:
            fields = f"file={self.files[0]}, offset=0, count={INLINE}"
            self.do(f'{call} = {conn}.nfs_call("READ", {fields})', f"{conn}.write_chunk({call})")
        else:
            self.do(f"{call} = {conn}.null_call()")
        if base == "long_call":
            self.do(f"{conn}.long_call({call})")
        self.do(*spoilt_lines(call, changed))
        octets = b"" if self.over else self.value(f"wire.encode({call})")
        self.do(f"{outcome} = {conn}.exchange({call})", handled_line(outcome, octets))


def spoilt_lines(call, changed):
    """Lines that change fields of a message."""
    return [f"{call}.{name} = {source(value)}" for name, value in changed.items()]


def handled_line(outcome, octets):
    """The line on the required answer to a message, by its header (RFC 8166 4.5). If the message
    decodes, the answer must decode too and the target must go on; the judge checks the rest.
    """
    words = wire.peek(octets)
    if len(octets) < wire.SMALLEST_HEADER_BYTES:
        return _expect_line(outcome, SHORT, "kinds.SILENCE, *kinds.CLOSED")
    if words.vers != wire.VERSION:
        return _expect_line(outcome, VERSION, "kinds.ERR_VERS")
    if words.proc in (wire.Procedure.MSG, wire.Procedure.NOMSG) and not _decodes(octets):
        # A responder may ignore octets after the lists of RDMA_NOMSG.
        behind = ", kinds.REPLY" if words.proc == wire.Procedure.NOMSG else ""
        return _expect_line(outcome, BROKEN, f"*kinds.REFUSED{behind}")
    bad = "(kinds.HANG, kinds.GARBAGE, kinds.ERROR_OTHER, kinds.CALL)"
    what = "a broken message is refused, discarded or ends the connection"
    return f'expect.true({outcome}.kind not in {bad}, "{HANDLED}", "{what}", outcome={outcome})'


def _expect_line(outcome, requirement_id, kinds):
    return f'expect({outcome}, "{requirement_id}", must=[{kinds}])'


def _decodes(octets):
    try:
        wire.decode(octets)
    except wire.DecodeError:
        return False
    return True


def _content_of(file):
    return file.replace("file", "content")


def _form(conn, call, form):
    return [] if form == "inline" else [f"{conn}.{form}({call})"]


def _read_lines(content, offset):
    """Lines that accept fewer octets than requested, which is legal (RFC 1813 3.3.6)."""
    wanted = f"{content}[{offset}:][:len({{outcome}}.result.ok.data)]"
    judged = f'"{READ_DATA}", "octets of the file"'
    return [f"expect.data({{outcome}}.result.ok.data, {wanted}, {judged})"]


def _written_lines(content, offset, octets):
    """Lines that accept a smaller count than written, which is legal (RFC 1813 3.3.7)."""
    count = "{outcome}.result.ok.count"
    return [
        f'expect.at_most({count}, len({octets}), "{WRITTEN}", "count of WRITE")',
        f"{content}[{offset}:{offset} + {count}] = {octets}[:{count}]",
    ]

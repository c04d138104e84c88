"""The bench: what a case gets to work with (the pytest fixture `bench`)."""

import dataclasses
import pathlib

from .. import fabric, trace, wire
from . import kinds
from .connection import Connection
from .deadline import CONNECT_MS
from .files import Files
from .link import make_capture, Settings, Watch
from .needs import check_need
from .profile import Profile
from .nfs_message import auth_sys
from .run import current_run
from .stream import Stream
from .verdict import EXCHANGES, Failed, Hung, NotTestable, Unsupported, Verdict

DEFAULT_INLINE = 4096
DEFAULT_PRIVATE_DATA = wire.PrivateData(
    remote_invalidation=False, send_bytes=DEFAULT_INLINE, receive_bytes=DEFAULT_INLINE
)
# Receives of a connection without private data (RFC 8166 3.3.3).
SMALLEST_INLINE = 1024


@dataclasses.dataclass(frozen=True)
class Target:
    """The server under test, as cases may look at it."""

    url: str
    bundled: bool
    profile: Profile


@dataclasses.dataclass(frozen=True)
class CaseFinding:
    """A finding in the form that the verdict needs."""

    id: str
    rule: str  # name of the judge's rule, stable
    event: int
    expected: str
    observed: str
    by_target: bool


class Bench:
    """Made anew for each case. Everything that it made is closed or removed after the case."""

    def __init__(self, target, link, run, deadlines, rng):
        self.target = target
        self.random = rng
        self.deadlines = deadlines
        self._link = link
        self._run = run
        self._connections = []
        self._captures = []
        self._files = None

    # -- connections ---------------------------------------------------------------------------

    def connect(
        self,
        private_data=DEFAULT_PRIVATE_DATA,
        credits=32,
        receives=32,
        receive_bytes=None,
        greet=True,
        must_open=True,
        **options,
    ):
        """A new connection to the target, judged and captured.

        private_data   wire.PrivateData, wire.PrivateDataDraft, octets, or None for none.
        credits        credit request of the calls built on it; receives: receives posted.
        receive_bytes  octets of each receive; by default what the private data announces.
        greet          sends a legal NULL call first, so that the grant is known and later calls
                       obey it (RFC 8166 3.3.3). Use False to test the first message.
        must_open      False: a refused connection is returned too, with `.refusal`.
        options        further fields of fabric.ConnectionOptions: crc, mpa_revision, ird, ord, and
                       raw_startup (needs fault-hooks).
        """
        octets, announced = _private_data(private_data)
        opened_with = fabric.ConnectionOptions(
            private_data=octets,
            receives=receives,
            receive_bytes=receive_bytes or announced,
            **options,
        )
        credential = auth_sys(self.target.profile.uid, self.target.profile.gid)
        settings = Settings(opened_with, credits, credential)
        number = len(self._captures)
        watch = Watch(number)
        self._captures.append(watch.capture)
        raw = self._link.open(settings, watch, CONNECT_MS)
        seed = f"{self._run.case_id}/{number}"
        conn = Connection(raw, watch, settings, self.deadlines, seed, self.need)
        self._connections.append(conn)
        if not conn.open and must_open:
            raise Failed(f"{EXCHANGES}: the target refused a connection", conn.refusal)
        if conn.open and greet:
            self._greet(conn)
        return conn

    def stream(self):
        """A plain TCP stream to the target, captured and not judged; see stream.Stream."""
        capture = make_capture(len(self._captures))
        self._captures.append(capture)
        return Stream(self.target.url, capture, self.deadlines.answer_ms)

    def _greet(self, conn):
        """A wrong answer is no obstacle: the judge sees it, and what the case is about comes later."""
        outcome = conn.probe()
        if outcome.kind == kinds.HANG:
            raise Hung("the first NULL call of a connection was not answered", outcome.trace())

    # -- files ---------------------------------------------------------------------------------

    @property
    def files(self):
        """The helper that makes files over a connection of its own; see files.Files."""
        if self._files is None:
            self.need("nfs3")
            self.need("export")
            self._files = Files(self.target, self._link, self.deadlines, self._run.case_id)
        return self._files

    @property
    def root(self):
        """The file handle of the export's root."""
        return self.files.root

    def name(self, stem="file"):
        """A name that is not in use below the case's directory."""
        return self.files.name(stem)

    def file(self, content=b"", name=None):
        """The handle of a new file with this content."""
        return self.files.file(content, name)

    def sparse_file(self, length):
        """The handle of a new file of `length` octets, all zero, made without sending them."""
        return self.files.sparse_file(length)

    def symlink(self, text, name=None):
        """The handle of a new symbolic link with this text."""
        return self.files.symlink(text, name)

    def directory(self, name=None):
        """The handle of a new directory."""
        return self.files.directory(name)

    def read_back(self, handle):
        """The whole content of a file, read inline over the helper connection."""
        return self.files.read(handle)

    # -- verdicts ------------------------------------------------------------------------------

    def need(self, name):
        """Ends the case if this run lacks what it needs; see suite.needs."""
        check_need(name, self.target.profile, self._link)

    def unsupported(self, proof):
        """Ends the case: the target proved that it lacks an optional feature."""
        raise Unsupported(proof)

    def not_testable(self, why):
        """Ends the case: this run cannot provoke or observe it."""
        raise NotTestable(why)

    def latitude(self, requirement_id, variant):
        """Notes which legal variant the target chose."""
        current_run().check_declared(requirement_id)
        current_run().note(Verdict.LATITUDE, f"{requirement_id}: {variant}")

    def warn(self, requirement_id, text):
        """Notes something that is tolerated but wrong."""
        current_run().check_declared(requirement_id)
        current_run().note(Verdict.WARN, f"{requirement_id}: {text}")

    # -- after the case ------------------------------------------------------------------------

    def settle(self):
        """Ends every connection; memory is checked for the last time."""
        for conn in self._connections:
            conn.settle()

    def clean_up(self):
        """Removes the files of the case."""
        if self._files is not None:
            self._files.clean_up()

    def findings(self):
        """[(CaseFinding, Connection)]: the judge's and the memory oracle's, in order."""
        found = []
        for conn in self._connections:
            for one in conn.watch.judge.findings:
                found.append((_of_judge(one), conn))
            last = max(0, len(conn.recorder) - 1)
            for requirement_id, text in conn.violations:
                found.append((_of_oracle(requirement_id, text, last), conn))
        return found

    def write_capture(self, directory):
        """Writes the case's capture file, with the verdict as a comment."""
        captures = [capture for capture in self._captures if capture.kept_bytes]
        if not captures:
            return
        comments = [f"case {self._run.case_id}", f"verdict {self._run.verdict}"]
        if self._run.reason:
            comments.append(self._run.reason)
        comments += [f"{found.id}: {found.text}" for found in self._run.findings]
        path = pathlib.Path(directory) / f"{self._run.case_id}.pcapng"
        trace.write_captures(path, captures, comments=comments)
        self._run.capture = path

    def close(self):
        """Gives everything back."""
        if self._files is not None:
            self._files.close()
        for conn in self._connections:
            conn.abort()


def _private_data(given):
    """(octets, announced receive size in octets)."""
    if given is None:
        return b"", SMALLEST_INLINE
    octets = bytes(given) if isinstance(given, (bytes, bytearray)) else wire.encode(given)
    found = wire.find_private_data(octets)
    return octets, found.data.receive_bytes if found is not None else SMALLEST_INLINE


def _of_judge(one):
    by_target = one.culprit == trace.Role.server
    return CaseFinding(
        one.requirement.id, one.rule, one.event, one.expected, one.observed, by_target
    )


def _of_oracle(requirement_id, text, event):
    expected = "memory of the requester is used only as the call offers it"
    return CaseFinding(requirement_id, "memory oracle", event, expected, text, True)

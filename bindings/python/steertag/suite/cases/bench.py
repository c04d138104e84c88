"""The bench: what a case gets to work with (the pytest fixture `bench`)."""

import dataclasses

from ... import conformance, fabric, nfs, wire
from ...verdict import Verdict
from ..exchange.callbacks import Callbacks, REVERSE_CREDITS
from ..exchange.case_capture import client_port, make_capture, RDMA_PORT, TCP_PORT, write_capture
from ..exchange.link import Refused
from ..nfs_client.case_files import Files
from ..nfs_client.data_server_link import data_server_link
from ..nfs_client.nfs3_file_calls import Nfs3FileCalls
from ..nfs_client.nfs4_client import Nfs4Client, Nfs4Files
from ..nfs_client.nfs4_file_calls import Nfs4FileCalls
from ..nfs_client.nfs_message import auth_sys, has_nfs3
from ..rdma.connection import Connection
from ..rdma.rdma_link import MOST_RNR_REPETITIONS, Settings
from ..recording.fabric_tap import BENT, kept_packet
from ..recording.plain import as_plain
from ..recording.taps import tap_connection, tap_stream
from ..run.profile import Profile
from ..tcp.local_port import free_port
from ..tcp.nfs_port import nfs_url
from ..tcp.record_link import RecordLink
from ..tcp.stream import Stream
from . import kinds
from .case_end import Failed, HarnessError, Hung, NotTestable, unprepared, Unsupported
from .case_run import current_run
from .needs import check_need
from .transport import TCP

NFS4 = nfs.nfs4
DEFAULT_INLINE = 4096
DEFAULT_PRIVATE_DATA = wire.PrivateData(
    remote_invalidation=False, send_bytes=DEFAULT_INLINE, receive_bytes=DEFAULT_INLINE
)
# Receives of a connection without private data (RFC 8166 3.3.3).
SMALLEST_INLINE = 1024
# Receives of a connection, and the credits that its calls ask for.
RECEIVES = 32


@dataclasses.dataclass(frozen=True)
class Target:
    """The server under test, as cases may look at it."""

    url: str
    bundled: bool
    profile: Profile
    may_try_tcp: bool = True  # whether the run may try the NFS port of the target's host


class Bench:
    """Made anew for each case. Everything that it made is closed or removed after the case."""

    own = "client"  # whose role the suite plays

    def __init__(self, target, link, run, deadlines, rng, administrator, servers=None):
        """`servers` has `serve_with(arguments, restarts)` and `restart_target()`, which give a link to the target."""
        self.target = target
        self._servers = servers
        self.random = rng
        self.deadlines = deadlines
        self._link = link
        self._run = run
        self._administrator = administrator
        self._connections = []
        self._captures = []
        self._stream_ports = []
        self._files = None
        self._clients = []
        self._log = run.recorder
        self._direct, self._layouts = conformance.DirectAccess(), conformance.Layouts()

    # -- connections ---------------------------------------------------------------------------

    @property
    def capabilities(self):
        """fabric.Capabilities of the provider."""
        return self._link.provider.capabilities

    def connect(self, greet=True, must_open=True, local_port=0, callbacks=False, **settings):
        """A new connection to the target, judged and captured; a record_connection.RecordConnection
        where the target is reached over TCP, which has no settings.

        - `greet`: a legal NULL call goes first, so that later calls obey the grant (RFC 8166 3.3.3). Use
          False to test the first message.
        - `must_open`: if False, a refused connection is returned too, with `.refusal`.
        - `local_port`: our port, as `local_port()` gives one; 0: any.
        - `callbacks`: `conn.callbacks` takes what the target calls; over RDMA there are receives for that.
        - `settings`: private_data, credits, receives, receive_bytes and further options (`_settings`).
        """
        if self._link.transport == TCP:
            if settings:
                raise HarnessError(f"a connection over TCP has no {', '.join(sorted(settings))}")
            conn = self._connect_tcp(self._link, must_open, local_port)
        else:
            if local_port:
                self.need("chosen-port")
                settings["local_port"] = local_port
            if callbacks:
                settings.setdefault("receives", RECEIVES + REVERSE_CREDITS)
            conn = self._connect_rdma(greet, must_open, settings)
        if callbacks:
            Callbacks(conn)
        return conn

    def serve_with(self, *arguments, restarts=False):
        """Before the first connection: the case goes on with a bundled server that has these further arguments. With
        `restarts` its files, their handles and its clients of version 4 outlive it. Options of the run stay as they are,
        and so does a third party."""
        if self._connections or self._files is not None:
            raise HarnessError("another server than that of connections or files before")
        if restarts:
            self._log.gap = self._log.gap or "the server keeps its state in a folder of the run"
        self._use(self._servers.serve_with(arguments, restarts))

    def restart(self):
        """Has the target restarted, as after a crash: its connections are gone. The risk of the case is destructive. A
        replay restarts nothing."""
        if self._run.case.risk != "destructive":
            raise HarnessError("a case that restarts its target is destructive")
        self._log.gap = self._log.gap or "the target was restarted"
        self._use(self._servers.restart_target())
        if self._files is not None:
            self._files.move_to(self._link)

    def _use(self, link):
        self._link = link
        self.target = dataclasses.replace(self.target, url=link.url)

    def connect_optimistic(self, private_data, elsewhere=False, **settings):
        """A connection with these octets of private data that carries no messages, or a refused one; judged and
        captured. With `elsewhere` it comes from another address of this machine. A replay lacks the ticket, which
        opens one connection."""
        self._log.gap = self._log.gap or "a ticket opens one connection"
        settings = {"private_data": private_data, "receives": 0, "ird": 0, **settings}
        link = self._link
        if elsewhere:
            link, place = link.elsewhere()
            settings.update(place)
        return self._connect_rdma(False, False, settings, link)

    def connect_data_server(self, ways, tcp=False, alone=False, **settings):
        """A connection to a data server, judged and captured. `ways` are its (netid, universal address);
        the first over the transport of the run, or over TCP, is used. With `alone` it has a provider of its own: our side
        answers no RDMA Read of it while the case waits for something else. `settings` are those of `connect`. A replay
        lacks the addresses."""
        self._log.gap = self._log.gap or "the target gives the addresses of its data servers"
        if tcp:
            self.need("tcp")
        link = data_server_link(self._link.twin if tcp else self._link, self.target.profile, ways)
        if alone:
            link = link.alone()
        if link.transport == TCP:
            conn = self._connect_tcp(link, True)
        else:
            settings = {"receives": RECEIVES + REVERSE_CREDITS, **settings}
            conn = self._connect_rdma(True, True, settings, link)
        Callbacks(conn)
        return conn, link

    def _connect_rdma(self, greet, must_open, settings, link=None):
        link = link or self._link
        opened_with = self._settings(**settings)
        settings["private_data"] = bytes(opened_with.options.private_data)
        for name in BENT & settings.keys():
            settings[name] = kept_packet(settings[name])
        number = len(self._captures)
        watch = link.watch(number, self._direct, self._layouts)
        self._captures.append(watch.capture)
        raw = link.open(opened_with, watch, link.connect_ms)
        seed = self._run.xid_seed(number)
        conn = Connection(raw, watch, opened_with, self.deadlines, seed, self.need)
        self._keep(conn, link, must_open, "connect", settings=as_plain(settings))
        if conn.open and greet:
            self._greet(conn)
        return conn

    def connect_tcp(self, must_open=True, local_port=0):
        """A new connection over TCP to the same server, captured: a RecordConnection. A case that
        uses it needs "tcp"."""
        self.need("tcp")
        return self._connect_tcp(self._link.twin, must_open, local_port)

    def connect_nfs_over_tcp(self):
        """Like `connect_tcp`; a refused connection is returned too. Without a TCP address of the target it takes
        the server's port of NFS."""
        if self._link.twin is not None:
            return self._connect_tcp(self._link.twin, must_open=False)
        if not self.target.may_try_tcp:
            self.need("tcp")
        link = RecordLink(nfs_url(self.target.url), self.target.profile)
        return self._connect_tcp(link, must_open=False)

    def _connect_tcp(self, link, must_open, local_port=0):
        number = len(self._captures)
        capture = make_capture(number, TCP_PORT)
        self._captures.append(capture)
        seed = self._run.xid_seed(number)
        limit_ms = link.connect_ms
        conn = link.open(capture, self.deadlines, seed, limit_ms, self.need, local_port)
        return self._keep(conn, link, must_open, "connect_tcp", local_port=local_port)

    def local_port(self):
        """A free port of this machine, which connections after each other can have."""
        if self.target.profile.translated:
            raise NotTestable("address translation on the way to the target changes our port")
        return free_port(self.random)

    def _keep(self, conn, link, must_open, kind, **fields):
        conn.null_version = link.null_version
        tap_connection(self._log, conn, kind, must_open=must_open, **fields)
        self._connections.append(conn)
        if not conn.open and must_open:
            raise Failed(f"{conn.owed}: the target refused a connection", conn.refusal)
        return conn

    def _settings(
        self,
        private_data=DEFAULT_PRIVATE_DATA,
        credits=RECEIVES,
        receives=RECEIVES,
        receive_bytes=None,
        most_rnr_repetitions=MOST_RNR_REPETITIONS,
        **options,
    ):
        """Settings of a connection over RDMA.

        - `private_data`: wire.PrivateData, wire.PrivateDataDraft, octets, or None for none.
        - `credits`: the credit request of its calls.
        - `receives`: receives posted.
        - `receive_bytes`: octets of each receive; by default what the private data announces.
        - `most_rnr_repetitions`: how often a Send that finds no receive is repeated over RoCE.
        - `options`: further fields of fabric.ConnectionOptions, such as crc, mpa_revision, ird, ord. With
          raw_startup the case needs fault-hooks, with bent_startup or bent_response bent-packets.
        """
        octets, announced = _private_data(private_data)
        most = self._link.provider.capabilities.largest_private_data
        if len(octets) > most:
            raise NotTestable(f"the provider sends at most {most} octets of private data")
        opened_with = fabric.ConnectionOptions(
            private_data=octets,
            receives=receives,
            receive_bytes=receive_bytes or announced,
            most_rnr_repetitions=most_rnr_repetitions,
            **options,
        )
        credential = auth_sys(self.target.profile.uid, self.target.profile.gid)
        return Settings(opened_with, credits, credential)

    def stream(self, narrow=False):
        """A plain TCP stream to the target, captured and not judged; see stream.Stream."""
        capture = make_capture(len(self._captures), RDMA_PORT)
        made = Stream(self.target.url, capture, self.deadlines.answer_ms, narrow=narrow)
        self._stream_ports.append(client_port(len(self._captures)))
        self._captures.append(capture)
        return tap_stream(self._log, made)

    def _greet(self, conn):
        """A wrong answer is no obstacle: the judge sees it, and what the case is about comes later. A call is no
        answer: after it, a second call of ours would break RFC 8166 3.3.3."""
        outcome = conn.probe()
        if outcome.kind in (kinds.HANG, kinds.CALL):
            raise Hung("the first NULL call of a connection was not answered", outcome.trace())

    # -- NFS version 4.1 -----------------------------------------------------------------------

    def nfs4_client(self, conn=None, **settings):
        """A nfs4_client.Nfs4Client with a name of its own, unknown to the target yet, over `conn` or
        a new connection with these settings."""
        self.need("nfs41")
        conn = conn or self.connect(**settings)
        client = Nfs4Client(conn, self.client_owner())
        self._clients.append(client)
        return client

    def data_server_client(self, client, ways, **settings):
        """A nfs4_client.Nfs4Client of the same owner at a data server (RFC 8881 13.1), over a connection of its own
        with these settings."""
        conn, link = self.connect_data_server(ways, **settings)
        made = Nfs4Client(conn, client.owner.decode(), client.verifier)
        made.home = link
        self._clients.append(made)
        return made

    def client_owner(self):
        """A new co_ownerid, as text."""
        owner = f"{self._run.case_id}-{self._link.unique}"
        self._log.given("client_owner", owner)
        return owner

    def discard_client(self, owner):
        """Has what the target keeps for this owner given back after the case."""
        client = Nfs4Client(None, owner)
        client.opens = True
        self._clients.append(client)

    def nfs4_session(self, conn=None, back=False, answers_null=True, settings=None, **fields):
        """A session of a new client, ready for work. With `back` its connection is the backchannel
        too, where `conn.callbacks` takes what the target calls. `fields` are of CREATE_SESSION."""
        if back:
            self.need("backchannel")
            fields.setdefault("csa_flags", NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN)
        client = self.nfs4_client(conn, **{"callbacks": back, **(settings or {})})
        # Also where none is due: what comes unasked is judged by the cases on that alone.
        callbacks = client.conn.callbacks or Callbacks(client.conn)
        callbacks.configure(answers_null=answers_null)
        for made in (client.exchange_id(), client.create_session(**fields)):
            if made.kind != kinds.REPLY:
                raise unprepared(client.conn.owed, "making a session", made.kind, made.trace())
        client.sessions[0].reclaim_complete()
        return client.sessions[0]

    def nfs4_files(self, session):
        """nfs4_client.Nfs4Files: the case's files as the session finds them."""
        return Nfs4Files(self, session)

    # -- files ---------------------------------------------------------------------------------

    @property
    def files(self):
        """The helper that makes files over a connection of its own; see case_files.Files."""
        if self._files is None:
            self.need("export")
            if not has_nfs3(self.target.profile):
                self.need("nfs41")
            whose = self._run.case_id, self._log, self._file_calls
            self._files = Files(self.target, self._link, self.deadlines, *whose)
        return self._files

    def _file_calls(self, helper):
        if has_nfs3(self.target.profile):
            return Nfs3FileCalls(helper)
        return Nfs4FileCalls(helper, self.client_owner)

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

    # -- the target's administrator ------------------------------------------------------------

    def administer(self, what):
        """Has the target do what no client can ask for: "recall-layouts", "replace-device" or "move-data-server". A
        replay has no administrator."""
        self._log.gap = self._log.gap or "the target's administrator was asked for something"
        self._administrator.act(what)

    # -- verdicts ------------------------------------------------------------------------------

    def need(self, name):
        """Ends the case if this run lacks what it needs; see suite.needs."""
        check_need(name, self.target.profile, self._link)

    def unsupported(self, proof):
        """Ends the case: the target proved that it lacks an optional feature."""
        raise Unsupported(proof)

    def not_testable(self, why, remedy=""):
        """Ends the case: this run cannot provoke or observe it. `remedy` is the option that helps."""
        raise NotTestable(why, remedy=remedy)

    def latitude(self, requirement_id, variant):
        """Notes which legal variant the target chose."""
        current_run().check_declared(requirement_id)
        current_run().note(Verdict.LATITUDE, f"{requirement_id}: {variant}")

    def warn(self, requirement_id, text, detail=""):
        """Notes something that is tolerated but wrong. The detail has what differs from run to run."""
        current_run().check_declared(requirement_id)
        reason = f"{requirement_id}: {text}"
        self._log.check(reason, Verdict.WARN)
        current_run().note(Verdict.WARN, reason, detail)

    # -- after the case ------------------------------------------------------------------------

    def settle(self):
        """Ends every connection; memory is checked for the last time."""
        for conn in self._connections:
            conn.settle()

    def clean_up(self):
        """Ends what clients of NFS version 4 hold, and removes the files of the case."""
        self._discard_clients()
        if self._files is not None:
            self._files.clean_up()

    def _discard_clients(self):
        clients = [client for client in self._clients if client.holds_state]
        self._clients = []
        if not clients:
            return
        for link in dict.fromkeys(client.home for client in clients):
            try:
                conn = (link or self._link).helper(self.deadlines)
            except Refused:
                continue  # whether the target lives was looked at before
            for client in clients:
                if client.home is link:
                    client.discard(conn)
            conn.abort()

    @property
    def connections(self):
        """[Connection, or RecordConnection]: all that were asked for so far."""
        return self._connections

    @property
    def stream_ports(self):
        """The client's ports in the capture of all streams so far."""
        return self._stream_ports

    @property
    def missed(self):
        """How often nothing came in the whole time of an answer."""
        return sum(conn.missed for conn in self._connections)

    def findings(self):
        """[(CaseFinding, Connection)]: the judge's and the memory oracle's, in order."""
        return [(found, conn) for conn in self._connections for found in conn.findings()]

    def write_capture(self, directory):
        """Writes the case's capture file, with the verdict as a comment."""
        write_capture(directory, self._run, self._captures)

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

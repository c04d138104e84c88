"""One process's part of a run: the target, its server process, the measured round trip."""

import contextlib
import dataclasses
import random

from ... import fabric
from ...verdict import Verdict
from ..cases import kinds
from ..cases.bench import Bench, Target
from ..cases.case import Case
from ..cases.case_end import EXCHANGES, EXCHANGES_OVER_TCP, HarnessError, NotTestable
from ..cases.case_run import Run, running
from ..cases.expectation import broken
from ..cases.needs import check_need
from ..cases.transport import ANY, LACKS, RDMA, TCP, transport_of
from ..exchange.callbacks import Callbacks
from ..exchange.deadline import RESTART_CONTACT_MS, SERVER_STOP_MS, Deadlines
from ..exchange.link import Refused
from ..rdma.rdma_link import RdmaLink
from ..recording import recording_file
from ..tcp.nfs_port import Found, try_nfs_port
from ..tcp.record_link import RecordLink
from .administrator import Administrator
from .case_session import CaseSession
from .case_session import Unreachable
from .execution import judged_contact
from .kept_state import KeptState
from .other_servers import OtherServers, stopped
from .preflight import Hindrance, other_server, preflight
from .server_process import BundledServer, CannotStart, end_of
from .target_restart import RESTARTS, has_died, restart_target

# What comes before the cases, as a case of its own. Over TCP it asserts the row that binds there.
CONTACT = Case("server.first-contact", (EXCHANGES,), (), "safe", False, {}, (), ANY)
# NULL calls whose slowest round trip the deadlines derive from.
MEASURED_ROUND_TRIPS = 5
# Probes, each with its own deadline, in which a target that hangs may turn out to be dying.
DEATH_PROBES = 4
DEAD = "dead"  # what the profile's command `died` has found
# How a target is described by what became of the probe after a case.
_STATES = {
    kinds.DISCONNECT: "refuses new connections",
    kinds.HANG: "does not answer",
    DEAD: "is dead",
}


class ServerSession(CaseSession):
    """Owns the link to the target for one pytest process."""

    def __init__(self, options, name):
        super().__init__(options, name)
        self._server = None
        self._link = None
        self._others = OtherServers()
        self._kept_state = KeptState()
        self._nfs_port = None  # the nfs_port.Found of the only try

    # -- the target ----------------------------------------------------------------------------

    def first_contact(self):
        """Reaches the target once and measures its round trip; raises Unreachable."""
        if self._link is not None:
            return
        if self.options.target is None:
            self._start_server()
        self._link = self._new_link()
        try:
            with self._contact() as bench:
                self._measure(bench)
            if self.options.target is not None and self._link.twin not in (None, self._link):
                self._find_twin(self._link.twin)
        except Unreachable:
            self._link = None
            self._stop_server()
            raise
        self._try_nfs_port(self._link)
        self.deadlines = Deadlines(self._link.round_trip_ms, self._link.distance_ms)

    def look_over(self):
        """The bundled server has what cases need; its deviations are theirs."""
        if self.options.target is None:
            return
        with self._contact() as bench:
            preflight(bench, self._link)
            sentence = other_server(bench, self._link)
            if sentence and not self.tcp_found:
                raise Hindrance(f"{sentence}: correct --tcp, or `tcp:` in the profile")
        if sentence:
            self._nfs_port = Found(sentence=sentence)
            self._link.twin, self._link.no_twin = None, sentence

    @contextlib.contextmanager
    def _contact(self):
        """A bench for what comes before the cases. Its end by Refused or Hindrance raises Unreachable."""
        owed = EXCHANGES if self._link.transport == RDMA else EXCHANGES_OVER_TCP
        case = dataclasses.replace(CONTACT, requirements=(owed,))
        self._run = Run(case, case.id, self._link.transport, self.options.run_seed)
        self._bench = None
        bench = self.bench()
        try:
            with running(self._run):
                yield bench
        except (Refused, Hindrance) as end:
            sentence = f"target {self._link.url}: {end}"
            record = judged_contact(self, self._run, bench, sentence, recorded=True)
            raise Unreachable(sentence, record) from None
        finally:
            bench.close()

    def _measure(self, bench):
        """An answer to a NULL call that breaks RDMA or record marking is a failure. No answer shows nothing of the
        target."""
        conn = bench.connect(greet=False, must_open=False)
        if conn.has_header:
            Callbacks(conn)  # an unannounced call of the target is no answer here; cases judge it
        try:
            self._link.measure_over(conn, MEASURED_ROUND_TRIPS, self._link.first_contact_ms)
        except Refused as refused:
            if refused.outcome is not None and _is_broken_answer(refused.outcome, conn):
                self._run.end(broken(refused.outcome, conn.owed))
            raise

    def _new_link(self):
        """The way to the target, with its twin over TCP."""
        profile = self.options.profile
        if self._server is None:
            url, tcp_url = self.options.target, profile.tcp
        else:
            url, tcp_url = self._server.urls[self.options.over], self._server.urls[TCP]
        if transport_of(fabric.parse_url(url)) == TCP:
            return RecordLink(url, profile)
        link = RdmaLink(url, profile, self._link and self._link.provider)
        if tcp_url:
            link.twin = RecordLink(tcp_url, profile)
        return link

    def _try_nfs_port(self, link):
        """Gives the link a twin at the NFS port of the target's host, if NFS answers there."""
        if self._server is not None or link.twin is not None:
            return
        if self._nfs_port is None:
            self._nfs_port = self._nfs_port_of(link.url)
        link.no_twin = self._nfs_port.sentence
        if self._nfs_port.url:
            link.twin = RecordLink(self._nfs_port.url, self.options.profile)

    def _nfs_port_of(self, url):
        """The profile may deny TCP, and --no-tcp forbids the try."""
        if self.options.profile.supports.get("tcp") is False:
            return Found(sentence="the profile says that the target has no TCP")
        if not self.options.try_tcp:
            return Found(sentence="--no-tcp forbids a try of the NFS port")
        return try_nfs_port(url, self.options.profile)

    @property
    def tcp_found(self):
        """The URL over TCP that the run found by itself, or ""."""
        return self._nfs_port.url if self._nfs_port is not None else ""

    @staticmethod
    def _find_twin(twin):
        """Cases judge what answers there. No answer is a mistake of the profile."""
        try:
            twin.helper(Deadlines(), twin.first_contact_ms).abort()
        except Refused as error:
            raise Unreachable(f"target {twin.url}: {error}") from None

    def _start_server(self):
        try:
            self._server = self._started(self.options.server_arguments, self.name)
        except CannotStart as error:
            raise Unreachable(str(error)) from None

    def _started(self, arguments, name):
        """A BundledServer with these arguments, which listens. Raises CannotStart."""
        options = self.options
        arguments = _with_direct_access(_with_data_servers(arguments))
        server = BundledServer(options.server, options.listen, arguments, options.report, name)
        server.start()
        return server

    def serve_with(self, arguments, restarts=False):
        """The link to a bundled server with these further arguments, which serves the rest of the case. With `restarts`
        what it keeps outlives it. Options of the run stay as they are, and so does a third party.
        """
        if restarts and self._server is not None:
            arguments = (*arguments, *self._kept_state.arguments_for(arguments))
        own = {each.partition("=")[0] for each in self.options.server_arguments}
        more = tuple(each for each in arguments if each.partition("=")[0] not in own)
        if self._server is None or not more:
            return self._link
        arguments = (*self.options.server_arguments, *more)
        usual = self._others.end(self._server, self._link)
        try:
            self._server, self._link = self._others.begin(
                more, usual, lambda name: self._started(arguments, f"{self.name}-{name}")
            )
        except CannotStart as error:
            self._server, self._link = usual
            raise HarnessError(f"another bundled server did not start: {error}") from None
        if self._link is None:
            self._link = usual[1]  # its provider serves for both
            self._link = self._new_link()
            self._link.measure(MEASURED_ROUND_TRIPS, self._link.first_contact_ms)
        self.deadlines = Deadlines(self._link.round_trip_ms, self._link.distance_ms)
        return self._link

    def restart_target(self):
        """Restarts the target as after a crash, which the case wants. The link to it."""
        known = self._link
        try:
            if self._server is not None:
                self._server.crash()
                self._server.start()
                self._link = self._new_link()
                self._link.measure(MEASURED_ROUND_TRIPS, self._link.first_contact_ms)
            elif self.options.profile.restart:
                self._bring_back(self.options.profile.restart)
            else:
                raise NotTestable(
                    "no way to restart the target", remedy="`restart:` in the profile"
                )
        except (CannotStart, Refused) as error:
            raise HarnessError(f"the target did not come back: {error}") from None
        self._link.know(known)
        self.deadlines = Deadlines(self._link.round_trip_ms, self._link.distance_ms)
        return self._link

    def _stop_server(self):
        if self._server is None:
            return None
        sentence = stopped(self._server)
        self._server = None
        return sentence

    def close(self):
        """Ends the session; a sentence if a bundled server did not end well, else None."""
        self._server, self._link = self._others.end(self._server, self._link)
        problem = self._stop_server() or self._others.stop()
        self._kept_state.remove()
        return problem

    # -- cases ---------------------------------------------------------------------------------

    def prepare(self, case, case_id):
        """Before the fixtures of a case: the target is up. Raises Unreachable."""
        self._server, self._link = self._others.end(self._server, self._link)
        self._make_sure()
        if self._is_spoilt():
            self._renew()
        self.deadlines = Deadlines(self._link.round_trip_ms, self._link.distance_ms)
        self._run = Run(case, case_id, self._link.transport, self.options.run_seed)
        self._bench = None
        self.reseed()

    @property
    def bundled(self):
        """Whether the target is the bundled server."""
        return self._server is not None

    def reseed(self):
        """What is chosen at random from here on belongs to the case."""
        self._link.reseed(random.Random(self._run.case_id).getrandbits(64))

    @contextlib.contextmanager
    def inner_run(self):
        """A run of the same case inside of its run, which goes on afterwards."""
        outer, bench = self._run, self._bench
        self._run = Run(outer.case, outer.case_id, self._link.transport, self.options.run_seed)
        self._bench = None
        self.reseed()
        try:
            with running(self._run):
                yield self._run
        finally:
            self._run, self._bench = outer, bench

    def bench(self):
        """The bench of the case that runs now."""
        if self._bench is None:
            options = self.options
            bundled = self._server is not None
            target = Target(self._link.url, bundled, options.profile, options.try_tcp)
            seed = random.Random(self._run.case_id)
            administrator = Administrator(lambda: self._server, options.profile.administrator)
            parts = self._link, self._run, self.deadlines, seed, administrator
            self._bench = Bench(target, *parts, self)
        return self._bench

    def _recorded_target(self):
        options = self.options
        return recording_file.TargetOf(
            url=options.target or "",
            arguments=(*options.server_arguments, *self._others.arguments),
            over=options.over,
            listen=options.listen,
            profile=self._recorded_profile(),
        )

    def _recorded_profile(self):
        """The profile of the run, with the URL over TCP that the case has used."""
        profile = self.options.profile
        if "tcp" not in self._run.case.needs or profile.tcp:
            return profile
        return dataclasses.replace(profile, tcp=self.tcp_found)

    def _recorded_steps(self, run):
        return run.recorder.steps(), run.recorder.gap

    def check_needs(self, case):
        if self._link.transport not in case.over:
            reason, remedy = LACKS[self._link.transport]
            raise NotTestable(reason, remedy=remedy)
        super().check_needs(case)

    def _check_need(self, need):
        check_need(need, self.options.profile, self._link)

    def _expendable(self):
        return (
            self._server is not None
            or self.options.allow_destructive
            or self.options.profile.destructive
        )

    def check_alive(self, run):
        """The liveness probe after a case. Notes crash or hang; restarts the bundled server. Returns
        whether the target was alive."""
        problem = self._probe(run)
        if problem is None and "tcp" in run.case.needs and self._link.twin is not self._link:
            problem = self._link.twin.probe(self.deadlines)
        if problem is None:
            return True
        if self._server is None:
            return self._note_target_death(run, problem)
        self._note_server_death(run)
        self._restart()
        return False

    def _probe(self, run):
        """What is wrong with the target, or None. A dead one that says nothing is not waited for."""
        spoilt = run.spoilt
        if spoilt and self._server is None and has_died(self.options.profile.died):
            return DEAD
        return self._link.probe(self.deadlines)

    def _note_target_death(self, run, problem):
        """Crash or hang of a third party; it is brought back if its profile says how. Returns whether it
        lives after all: it was slow."""
        profile = self.options.profile
        if profile.restart and problem == kinds.HANG:
            problem = self._await_death()
        if problem is None:
            return True
        verdict = Verdict.HANG if problem == kinds.HANG else Verdict.CRASH
        state = _STATES[problem]
        detail = end_of(profile.console) if profile.console else ""
        run.note(verdict, f"after the case the target {state}", detail)
        since = f"the target {self._link.url} {state} since {run.case_id}"
        if not profile.restart:
            self.lost = f"{since}; no further case was run"
            return False
        try:
            self._bring_back(profile.restart)
        except CannotStart as error:
            self.lost = f"{since} and did not come back: {error}"
        return False

    def _is_spoilt(self):
        """Whether the last case may have left damage in a third party: it survived, but its baseline also knows
        a crash. A later case would end it, and have the blame."""
        last, options = self._run, self.options
        if self._server is not None or last is None or options.baseline is None:
            return False
        row = options.baseline.row(last.case_id)
        survived = last.verdict not in (Verdict.CRASH, Verdict.HANG)
        return survived and row is not None and row.may_crash and bool(options.profile.restart)

    def _renew(self):
        """Restarts a third party that answers. Raises Unreachable."""
        try:
            self._bring_back(self.options.profile.restart)
        except CannotStart as error:
            self.lost = (
                f"the target {self._link.url} was restarted after {self._run.case_id}: {error}"
            )
            raise Unreachable(self.lost) from None

    def _bring_back(self, command):
        """Restarts a third party until it answers, RESTARTS times at most."""
        for _ in range(RESTARTS):
            restart_target(command)
            self._link = self._new_link()
            self._try_nfs_port(self._link)
            try:
                self._link.measure(MEASURED_ROUND_TRIPS, RESTART_CONTACT_MS)
                return
            except Refused as refused:
                error = refused
        raise CannotStart(f"after {RESTARTS} restarts: {error}")

    def _await_death(self):
        """What is wrong with the target, or None if it answers again. A machine that panics is silent for a while
        before it is gone. It gets that time, so that the verdict does not depend on the moment of the probe.
        """
        for _ in range(DEATH_PROBES):
            if has_died(self.options.profile.died):
                return DEAD
            problem = self._link.probe(self.deadlines)
            if problem != kinds.HANG:
                return problem
        return kinds.HANG

    def _note_server_death(self, run):
        if self._server.wait_for_death(SERVER_STOP_MS):
            reason = f"the server process ended with {self._server.death()}"
            run.note(Verdict.CRASH, reason, self._server.output())
        else:
            run.note(Verdict.HANG, "after the case the server does not answer a new connection")

    def _restart(self):
        try:
            self._server.restart()
            self._link = self._new_link()
            self._link.measure(MEASURED_ROUND_TRIPS, self._link.first_contact_ms)
        except (CannotStart, Refused) as error:
            self.lost = f"the bundled server did not come back: {error}"


def _is_broken_answer(outcome, conn):
    """Whether something came that can only be the answer to the call. Over TCP that needs its XID: any service may
    listen there."""
    if conn.has_header:
        return outcome.kind == kinds.VIOLATION
    return outcome.xid.to_bytes(4, "big") in conn.received


def _with_direct_access(arguments):
    """The arguments of the bundled server, which has the program of direct access unless it serves a directory."""
    if any(each.startswith(("--export", "--optimistic")) for each in arguments):
        return arguments
    # The second one is for clients that ask for it.
    return (*arguments, "--optimistic", "--recoverable-faults")


def _with_data_servers(arguments):
    """The arguments of the bundled server, which has data servers. With small stripe units a case
    writes little."""
    if any(each.startswith(("--pnfs", "--portmap")) for each in arguments):
        return arguments
    unit = () if "--stripe-unit" in arguments else ("--stripe-unit", "4096")
    return (*arguments, "--pnfs", "2", *unit)

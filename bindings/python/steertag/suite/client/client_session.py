"""One process's part of a run that tests a client.

The client's command, its use of an unaltered server, and the probe after each case.
"""

import dataclasses
import os
import pathlib

from ... import build_paths, fabric
from ...verdict import Verdict
from ..cases.case import Case
from ..cases.case_end import EXCHANGES, EXCHANGES_OVER_TCP, Hung, NotTestable
from ..cases.case_run import Run
from ..cases.transport import ANY, RDMA, TCP, transport_of
from ..exchange.roce_address import with_free_address
from ..recording import recording_file
from ..run.case_session import CaseSession
from ..run.case_session import Unreachable
from ..run.execution import judged_contact
from ..run.server_process import CannotStart, end_of
from ..run.target_restart import has_died, restart_target
from .client_bench import ClientBench
from .client_connection import sent_from, StreamConnection
from .client_kinds import CRASH, DONE, HANG
from .client_needs import check_client_need, Habits
from .first_claim import first_claim
from .script import Script

# A run that lasts longer than so many times the first one hangs, if it lasts longer than the limit.
LIMIT_RUNS = 20
# Of our own client, from a call to its reply: it gives up what is never answered. No case waits for that;
# a loaded machine may not run the server for seconds.
OWN_CALL_MS = 10000
# Words for {transfer} in the command: how data gets to the client. The first is no wish.
TRANSFERS = ("as-needed", "cached", "pre-posted", "optimistic")
# Where the export is, for every version of NFS.
EXPORT = "/export"
# Uses before a client counts as one that cannot be tested. The first may load modules and start
# daemons, and exceed a limit of the client over that.
FIRST_TRIES = 2
_PROBE = Case("client.probe.unaltered", (EXCHANGES,), (), "safe", False, {}, (), ANY)
# What comes before the cases, as a case of its own. Over TCP both assert the row that binds there.
CONTACT = dataclasses.replace(_PROBE, id="client.first-contact")
# Why a case does not run over TCP, and the option with which it does.
_LACKS_RDMA = (
    "needs RDMA: the suite's server listens over TCP, which has no transport header, chunks or credits",
    "--listen with a URL over RDMA",
)


class Client:
    """The client under test, and where it finds the server."""

    def __init__(self, options):
        self._options = options
        self._own_program = _own_program() if self.ours else None
        self.listen = [with_free_address(url) for url in options.listen_urls]
        self.url = self.listen[0]
        first = fabric.parse_url(self.url)
        self.provider, self.transport = first.provider, transport_of(first)
        is_rdma = self.transport == RDMA
        self.capabilities = fabric.Provider(self.provider).capabilities if is_rdma else None

    @property
    def ours(self):
        """Whether it is our own client, whose limits are known."""
        return not self._options.client_command

    @property
    def closes_at_once(self):
        """Whether the memory of a call is closed before anything counts that was posted behind its answer.
        Ours over a software provider takes what arrives in order, in one thread; of others nothing shows
        it but what they do next."""
        return self.ours and self.capabilities.sees_remote_operations

    @property
    def pnfs_host(self):
        """The host by which the client reaches our data servers; empty: that of the server."""
        return self._options.pnfs_host

    @property
    def data_servers_by_tcp(self):
        """Whether our data servers listen over TCP alone."""
        return TCP in (self.transport, self._options.pnfs_over)

    def listens_at(self, urls):
        """The server's URLs, with the ports really bound; later servers listen there too. A server may have fewer
        of them than others."""
        self.url = urls[0].rstrip("/") + EXPORT
        if self._options.client_command:
            self.listen[: len(urls)] = urls

    def command(self, own=(), transfer=None):
        """What to run for the server that listens now; `own` are further options of our own client, `transfer`
        is a word of TRANSFERS."""
        transfer = transfer or TRANSFERS[0]
        if not self._options.client_command:
            words = [str(self._own_program), self.url, "--nfs", self._options.client_nfs]
            words += ["--timeout-ms", str(OWN_CALL_MS), "--transfer", transfer, *own]
            for name in self._options.client_deviations:
                words += ["--deviate", name]
            return words
        parsed = fabric.parse_url(self.url)
        text = self._options.client_command
        fields = {"{url}": self.url, "{host}": parsed.host, "{port}": str(parsed.port)}
        fields["{transfer}"] = transfer
        for field, value in fields.items():
            text = text.replace(field, value)
        return text

    def limit_ms(self, habits):
        """When a run counts as hung."""
        limit_s = self._options.client_timeout_s
        return int(max(limit_s, LIMIT_RUNS * habits.seconds) * 1000)


def _own_program():
    """The path of our own client; raises Unreachable if there is none."""
    program = pathlib.Path(os.environ.get("STEERTAG_COPY") or build_paths.tool("steertag-copy"))
    if not program.exists():
        raise Unreachable(
            f"there is no {program}: build it with `cmake --build --preset release --target "
            "steertag-copy`, or name another client with --client-command"
        )
    return program


class ClientSession(CaseSession):
    """Has the face of server_session.ServerSession."""

    def __init__(self, options, name):
        super().__init__(options, name)
        self._client = None
        self._habits = None

    # -- the client ----------------------------------------------------------------------------

    def first_contact(self):
        """Runs the client against the unaltered server; raises Unreachable."""
        if self._habits is not None:
            return
        try:
            self._client = Client(self.options)
            for _ in range(FIRST_TRIES):
                run = self._run_of(self._of_transport(CONTACT), CONTACT.id)
                bench = self._bench_of(run, Habits())
                habits, outcome = self._observe(bench)
                if outcome.kind in DONE:
                    break
        except (Hung, fabric.FabricError, ValueError) as error:
            raise Unreachable(f"the client cannot be tested: {error}") from None
        if outcome.kind not in DONE:
            sentence = (
                f"the client does not complete with an unaltered server: {outcome.kind}"
                f"{', ' if outcome.detail else ''}{outcome.detail}"
            )
            (owed,) = self._of_transport(CONTACT).requirements
            claim = first_claim(outcome, owed)
            record = judged_contact(self, run, bench, sentence, recorded=False, claim=claim)
            raise Unreachable(sentence, record)
        self._habits = habits

    def _run_of(self, case, case_id):
        run = Run(case, case_id, self._client.transport, self.options.run_seed)
        run.recorder.over()  # a replay runs the case: the server reacts to the client
        return run

    def _of_transport(self, case):
        """The case with what the client owes over the transport of the run."""
        owed = EXCHANGES if self._client.transport == RDMA else EXCHANGES_OVER_TCP
        return dataclasses.replace(case, requirements=(owed,))

    def _bench_of(self, run, habits):
        return ClientBench(self._client, run, self.deadlines, habits, self.options.seed)

    @staticmethod
    def _observe(bench):
        """(Habits, ClientOutcome) of a run with an unaltered server."""
        habits = Habits()
        outcome = bench.use(_Observer(habits))
        for conn in outcome.connections:
            habits.note_connection(conn)
        habits.connections = sum(bool(conn.calls) for conn in outcome.connections)
        habits.seconds = outcome.seconds
        habits.pause_seconds = outcome.pause_seconds
        return habits, outcome

    def close(self):
        """Ends the session; nothing can go wrong."""
        return None

    # -- cases ---------------------------------------------------------------------------------

    def prepare(self, case, case_id):
        """Before the fixtures of a case. Raises Unreachable."""
        self._make_sure()
        self._run = self._run_of(case, case_id)
        self._bench = None

    def bench(self):
        """The bench of the case that runs now."""
        if self._bench is None:
            self._bench = self._bench_of(self._run, self._habits)
        return self._bench

    def _recorded_target(self):
        options = self.options
        return recording_file.ClientOf(
            command=options.client_command,
            nfs=options.client_nfs,
            deviations=options.client_deviations,
            listen=options.listen_urls,
            timeout_s=options.client_timeout_s,
            seed=options.seed,
            profile=options.profile,
        )

    def _recorded_steps(self, run):
        """Client cases have no steps: the server reacts to the client."""
        return [], ""

    def check_needs(self, case):
        if self._client.transport not in case.over:
            reason, remedy = _LACKS_RDMA
            raise NotTestable(reason, remedy=remedy)
        super().check_needs(case)

    def _check_need(self, need):
        check_client_need(need, self._habits, self._client.capabilities)

    def _expendable(self):
        options = self.options
        return (
            not options.client_command or options.allow_destructive or options.profile.destructive
        )

    def check_alive(self, run):
        """The liveness probe after a case: the client completes with an unaltered server. Returns
        whether it did."""
        profile = self.options.profile
        if run.spoilt and has_died(profile.died):
            self._note_death(run, Verdict.CRASH, "is dead")
            return False
        try:
            probe = self._run_of(self._of_transport(_PROBE), _PROBE.id)
            _, outcome = self._observe(self._bench_of(probe, Habits()))
        except Hung as error:
            self._note_death(run, Verdict.HANG, f"is of no use: {error.reason}")
            return False
        if outcome.kind in DONE:
            return True
        if has_died(profile.died):
            self._note_death(run, Verdict.CRASH, "is dead")
            return False
        verdict = {HANG: Verdict.HANG, CRASH: Verdict.CRASH}.get(outcome.kind, Verdict.FAIL)
        text = f"does not complete with an unaltered server any more: {outcome.kind}"
        self._note_death(run, verdict, text, outcome.detail)
        return False

    def _note_death(self, run, verdict, state, detail=""):
        profile = self.options.profile
        if profile.console:
            detail = f"{detail}\n{end_of(profile.console)}"
        run.note(verdict, f"after the case the client {state}", detail)
        if not profile.restart:
            self.lost = f"the client {state} since {run.case_id}; no further case was run"
            return
        try:
            restart_target(profile.restart)
            self._habits = None
            self.first_contact()
        except (CannotStart, Unreachable) as error:
            self.lost = f"the client {state} since {run.case_id} and did not come back: {error}"


class _Observer(Script):
    """Changes nothing and notes how the client works."""

    def __init__(self, habits):
        self._habits = habits
        self._pending = {}

    def on_call(self, conn, call):
        if isinstance(conn, StreamConnection):  # over RDMA replies show more
            self._habits.note_call(call)

    def on_arrival(self, conn, message):
        if sent_from(message).is_reply:  # the server probes each backchannel
            self._habits.has.add("client-backchannel")
            return False
        pending = self._pending.setdefault(conn.number, set())
        pending.add(bytes(message[:4]))
        if len(pending) > 1:
            self._habits.has.add("client-pipelining")
        return False

    def on_departure(self, reply):
        if reply.kind != "callback":
            self._pending.get(reply.conn.number, set()).discard(bytes(reply.message[:4]))
            self._habits.note(reply)
        return False

"""Where COMMIT goes, and what its verifier says (RFC 8881 13.7)."""

import pytest

from steertag.suite import ANY, case, client_kinds as kinds, expect
from .striped_server import copied_by_data_servers, NEEDS, StripedServer, use_striped

AT_DATA_SERVER, AT_METADATA_SERVER = "RFC8881-13.7-1", "RFC8881-13.7-2"
PLACES = {"at-data-servers": AT_DATA_SERVER, "at-metadata-server": AT_METADATA_SERVER}
OTHER_VERIFIER = b"\xa5" * 8
ALL_PLACES = [AT_DATA_SERVER, AT_METADATA_SERVER]


def _unstable(call):
    """Whether the server has taken a WRITE without making it stable."""
    return call.succeeded("WRITE") and call.result("WRITE").committed.name == "UNSTABLE4"


def need_unstable(bench, script):
    if not any(_unstable(call) for call in script.at_data_servers("WRITE")):
        bench.not_testable("the client asks data servers for stable WRITEs only")


@case("client.pnfs.commit.at-data-servers", requirements=[AT_DATA_SERVER], needs=NEEDS, over=ANY)
def test_at_data_servers(bench):
    """The layout is without NFL4_UFLG_COMMIT_THRU_MDS. Each data server that has taken unstable WRITEs gets a
    COMMIT behind the last of them, for the filehandle that was written."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    last = {}
    for call in script.at_data_servers("WRITE"):
        if _unstable(call):
            last[call.server, call.handle] = call.at
    for (server, handle), at in last.items():
        committed = any(
            (call.server, call.handle) == (server, handle) and call.at > at
            for call in script.at_data_servers("COMMIT")
        )
        what = "COMMIT comes to each data server behind its unstable WRITEs"
        expect.true(committed, AT_DATA_SERVER, what, outcome=outcome)
    copied_by_data_servers(bench, script, outcome, AT_DATA_SERVER)
    need_unstable(bench, script)


@case(
    "client.pnfs.commit.at-metadata-server",
    requirements=[AT_METADATA_SERVER],
    needs=NEEDS,
    over=ANY,
)
def test_at_metadata_server(bench):
    """The layout has NFL4_UFLG_COMMIT_THRU_MDS. COMMIT goes to the metadata server, and none to data servers."""
    script = StripedServer()
    outcome = use_striped(bench, script, commit_through_server=True)
    what = "COMMITs at data servers"
    expect.equal(
        len(script.at_data_servers("COMMIT")), 0, AT_METADATA_SERVER, what, outcome=outcome
    )
    copied_by_data_servers(bench, script, outcome, AT_METADATA_SERVER)
    need_unstable(bench, script)
    committed = bool(script.of("COMMIT"))
    what = "COMMIT comes to the metadata server"
    expect.true(committed, AT_METADATA_SERVER, what, outcome=outcome)


class OtherVerifier(StripedServer):
    """The first COMMIT has another verifier than the WRITEs before it. Its server keeps it; with COMMIT at the metadata
    server, all do."""

    def __init__(self):
        bend = {"COMMIT": self._change, "WRITE": self._change}
        super().__init__(results=bend, elsewhere=bend)
        self.changed = None  # the Call

    def _change(self, call, result):
        if int(result.status) != 0 or (self.changed is None and "COMMIT" not in call):
            return None
        self.changed = self.changed or call
        if self.changed.server not in (None, call.server):
            return None
        result.resok4.writeverf = OTHER_VERIFIER
        return result


@case("client.pnfs.verifier.{name}", requirements=ALL_PLACES, needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", PLACES)
def test_verifier(bench, name):
    """The verifier of a COMMIT is not that of the WRITEs: their server has restarted meanwhile. What it may have
    lost is written again."""
    requirement_id = PLACES[name]
    script = OtherVerifier()
    through = name == "at-metadata-server"
    outcome = use_striped(bench, script, commit_through_server=through)
    expect(outcome, requirement_id, must=[kinds.COMPLETED])
    if script.changed is None:
        bench.not_testable("the client sends no COMMIT")
    again = [call for call in script.calls if "WRITE" in call and call.at > script.changed.at]
    what = "data is written again behind a COMMIT with another verifier"
    expect.true(bool(again), requirement_id, what, outcome=outcome)


@case("client.pnfs.verifier.of-writes", requirements=[AT_DATA_SERVER], needs=NEEDS, over=ANY)
def test_verifier_of_writes(bench):
    """The WRITEs of a data server have two verifiers: it has restarted between them. What came before may be lost,
    and is written again."""
    seen = []

    def change(call, result):
        if call.server != 0 or int(result.status) != 0:
            return None
        seen.append(call)
        if len(seen) == 1:
            result.resok4.writeverf = OTHER_VERIFIER
        return result

    script = StripedServer(elsewhere={"WRITE": change})
    outcome = use_striped(bench, script)
    expect(outcome, AT_DATA_SERVER, must=[kinds.COMPLETED])
    if len(seen) < 2:
        bench.not_testable("the client writes once to the data server")
    first = seen[0]
    again = [
        call
        for call in script.calls
        if "WRITE" in call and call.at > first.at and call["WRITE"].data == first["WRITE"].data
    ]
    what = "the data of a WRITE with an older verifier is written again"
    expect.true(bool(again), AT_DATA_SERVER, what, outcome=outcome)

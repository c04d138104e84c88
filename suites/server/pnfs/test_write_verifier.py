"""The write verifiers of data servers, and of COMMIT at them or at the metadata server (RFC 8881 13.7, 18.32)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.file_layout import COMMIT_THROUGH_SERVER
from steertag.suite.nfs_client.nfs4_client import putfh
from .layout_checks import NEEDS, user_with_layout

COMMON, UNCHANGED = "RFC8881-13.7-3", "RFC8881-18.32.3-1"
REMEDY = "a server that takes COMMIT in place of its data servers: --server-arg=--commit=mds"


@case("server.pnfs.data.one-verifier", requirements=[COMMON], needs=NEEDS, over=ANY)
def test_one_verifier(bench):
    """A file is written at all data servers and committed at the metadata server. The replies to WRITE
    and COMMIT have one verifier."""
    user = user_with_layout(bench)
    if not user.layout.util & COMMIT_THROUGH_SERVER:
        bench.not_testable("COMMIT goes to the data servers", REMEDY)
    content = bench.random.randbytes(user.size)
    verifiers = []
    for part in user.parts():
        outcome = expect(user.write_part(part, content), COMMON, must=[kinds.REPLY])
        verifiers.append(bytes(outcome.result["WRITE"].resok4.writeverf))
        what = "writeverf of a WRITE of the layout"
        expect.equal(verifiers[-1], verifiers[0], COMMON, what, show=False, outcome=outcome)
    done = user.session.exchange_in_time(putfh(user.handle), operation("COMMIT"))
    expect(done, COMMON, must=[kinds.REPLY])
    verifier = bytes(done.result["COMMIT"].resok4.writeverf)
    expect.equal(verifier, verifiers[0], COMMON, "writeverf of COMMIT", show=False, outcome=done)


@case("server.pnfs.data.verifier-of-data-server", requirements=[UNCHANGED], needs=NEEDS, over=ANY)
def test_verifier_of_data_server(bench):
    """A file is written with UNSTABLE4 at its data servers, and committed there. All replies of one data server have
    one verifier."""
    user = user_with_layout(bench)
    if user.layout.util & COMMIT_THROUGH_SERVER:
        bench.not_testable("COMMIT goes to the metadata server")
    content = bench.random.randbytes(user.size)
    verifiers = {}
    for part in user.parts():
        outcome = expect(user.write_part(part, content), UNCHANGED, must=[kinds.REPLY])
        _expect_same(verifiers, part, outcome, "WRITE")
    for part in user.parts():
        outcome = expect(user.commit_part(part), UNCHANGED, must=[kinds.REPLY])
        _expect_same(verifiers, part, outcome, "COMMIT")


def _expect_same(verifiers, part, outcome, name):
    """`verifiers`: {data server: verifier of its first reply}."""
    found = bytes(outcome.result[name].resok4.writeverf)
    first = verifiers.setdefault(part.server, found)
    what = f"writeverf of {name} at data server {part.server}"
    expect.equal(found, first, UNCHANGED, what, show=False, outcome=outcome)

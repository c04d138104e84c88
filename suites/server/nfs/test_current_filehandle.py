"""Operations that consume the current filehandle (RFC 8881 2.6.3.1.1.8, 18.29.3, 18.45.3)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import putfh
from ..nfs4_checks import NFS4, status

CONSUMED = "RFC8881-18.29.3-1"
NAME = "asked-for"
STYLES = NFS4.SecinfoStyle
ASKING = {
    "secinfo": operation("SECINFO", name=NAME),
    "no-name": operation("SECINFO_NO_NAME", style=STYLES.SECINFO_STYLE4_CURRENT_FH),
    "parent": operation("SECINFO_NO_NAME", style=STYLES.SECINFO_STYLE4_PARENT),
}


def asked(bench, name, *behind, before=()):
    """The Outcome of a SECINFO with these operations behind it. `before` stand between PUTFH and it."""
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    files.file(name=NAME)
    outcome = session.exchange(putfh(files.directory), *before, ASKING[name], *behind)
    if name != "secinfo" and outcome.kind == status("NFS4ERR_NOTSUPP"):
        bench.unsupported("SECINFO_NO_NAME gets NFS4ERR_NOTSUPP; only pNFS needs it (RFC 8881 17)")
    return outcome


@case("server.nfs4.consumed.{name}", requirements=[CONSUMED], needs=["nfs41"], over=ANY)
@pytest.mark.parametrize("name", ASKING)
def test_consumed(bench, name):
    """GETFH finds no current filehandle behind SECINFO."""
    outcome = asked(bench, name, "GETFH")
    expect(outcome, CONSUMED, must=[status("NFS4ERR_NOFILEHANDLE")])
    failed = outcome.result.results[-1][0].name
    expect.equal(failed, "GETFH", CONSUMED, "the operation that fails", outcome=outcome)


@case("server.nfs4.consumed.{name}-restored", requirements=[CONSUMED], needs=["nfs41"], over=ANY)
@pytest.mark.parametrize("name", ASKING)
def test_restored(bench, name):
    """A saved filehandle outlives SECINFO: RESTOREFH and GETFH succeed."""
    outcome = asked(bench, name, "RESTOREFH", "GETFH", before=["SAVEFH"])
    expect(outcome, CONSUMED, must=[kinds.REPLY])

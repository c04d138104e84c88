"""BACKCHANNEL_CTL: its place, the program of callbacks, and RPCSEC_GSS handles (RFC 8881 18.33)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import CALLBACK_PROGRAM, NO_CREDENTIAL
from ..nfs4_checks import expect_no_handle, status, unknown_handles
from ..reverse_checks import Recall

IN_SESSION = "RFC8881-18.33.3-1"
PROGRAM = "RFC8881-18.33.3-2"
NO_HANDLE = "RFC8881-18.33.3-3"
OTHER_PROGRAM = CALLBACK_PROGRAM + 1


def control(program=CALLBACK_PROGRAM, parms=NO_CREDENTIAL):
    """BACKCHANNEL_CTL."""
    return operation("BACKCHANNEL_CTL", bca_cb_program=program, bca_sec_parms=[parms])


@case(
    "server.backchannel.control-without-sequence",
    requirements=[IN_SESSION],
    needs=["backchannel"],
    over=ANY,
    hostile=True,
)
def test_without_sequence(bench):
    """BACKCHANNEL_CTL alone is refused: without SEQUENCE it has no session."""
    session = bench.nfs4_session(back=True)
    outcome = session.conn.exchange(session.conn.compound_call(control()))
    expect(outcome, IN_SESSION, must=[status("NFS4ERR_OP_NOT_IN_SESSION")])


@case("server.backchannel.control-program", requirements=[PROGRAM], needs=["delegations"], over=ANY)
def test_program(bench):
    """The client changes the program of its callbacks. The next recall calls the new one."""
    recall = Recall(bench)
    session = recall.session
    changed = session.exchange_in_time(control(OTHER_PROGRAM))
    expect(changed, PROGRAM, must=[kinds.REPLY])
    callback = recall.expect_recall(PROGRAM)
    what = "program number of the recall"
    expect.equal(callback.rpc.program, OTHER_PROGRAM, PROGRAM, what)
    recall.callbacks.answer(callback)
    recall.expect_done(PROGRAM)


@case(
    "server.backchannel.control-unknown-handle",
    requirements=[NO_HANDLE],
    needs=["backchannel"],
    over=ANY,
    hostile=True,
)
def test_unknown_handle(bench):
    """BACKCHANNEL_CTL refuses an RPCSEC_GSS handle that the server never issued."""
    session = bench.nfs4_session(back=True)
    outcome = session.exchange_in_time(control(parms=unknown_handles()))
    expect_no_handle(outcome, NO_HANDLE)

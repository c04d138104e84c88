"""What a client says of itself in its calls, and takes in replies (RFC 5531 8, 10, appendix A)."""

from steertag import rpc, wire
from steertag.suite import case, client_kinds as kinds, expect
from ..call_kinds import word

LENGTH, FLAVOURS, PARAMETERS = "RFC5531-8.2-1", "RFC5531-10-1", "RFC5531-A-1"
CREDENTIAL_AT = 24  # in a call: XID, type, version, program, version, procedure
MOST_BODY, MOST_NAME, MOST_GROUPS = 400, 255, 16


@case(
    "client.rpc.credential",
    requirements=[LENGTH, FLAVOURS, PARAMETERS],
    unbroken="RFC5531-8.2-1, RFC5531-A-1: a call beyond the limits is executed by no server of ours.",
)
def test_credential(bench):
    """Credentials and verifiers have 400 octets at most, those of AUTH_SYS a name of 255 and sixteen groups.
    The replies have verifiers of AUTH_NONE, which every client takes."""
    outcome = bench.use()
    for _, sent in outcome.calls:
        if sent.header.proc == wire.Procedure.MSG:
            _expect_within_limits(sent.payload, outcome)
    expect(outcome, FLAVOURS, must=[kinds.COMPLETED])


def _expect_within_limits(call, outcome):
    flavour, length = word(call, CREDENTIAL_AT), word(call, CREDENTIAL_AT + 4)
    expect.at_most(length, MOST_BODY, LENGTH, "octets of a credential", outcome)
    body = call[CREDENTIAL_AT + 8 :][:length]
    verifier_at = CREDENTIAL_AT + 8 + length + -length % 4
    expect.at_most(word(call, verifier_at + 4), MOST_BODY, LENGTH, "octets of a verifier", outcome)
    if flavour != int(rpc.AuthFlavor.AUTH_SYS):
        return
    name = word(body, 4)
    expect.at_most(name, MOST_NAME, PARAMETERS, "octets of a machine name", outcome)
    groups_at = 8 + name + -name % 4 + 8  # behind stamp, name, uid and gid
    expect.at_most(word(body, groups_at), MOST_GROUPS, PARAMETERS, "groups", outcome)

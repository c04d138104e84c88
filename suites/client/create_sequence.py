"""csa_sequence of the CREATE_SESSIONs of one client ID (RFC 8881 18.36.4)."""

from steertag.suite import expect

NEXT_SESSION = "RFC8881-18.36.4-5"


def expect_numbered(script, outcome):
    """Behind a session of a client ID, the CREATE_SESSION for another one has the next csa_sequence. `script` is a
    StripedServer that loses no reply to CREATE_SESSION."""
    made = {}  # (server, client ID): csa_sequence of the last session
    for call in script.calls:
        if call.succeeded("EXCHANGE_ID"):  # eir_sequenceid counts anew
            made = {key: number for key, number in made.items() if key[0] != call.server}
        if "CREATE_SESSION" not in call:
            continue
        asked = call["CREATE_SESSION"]
        client = call.server, asked.csa_clientid
        if client in made:
            what = "csa_sequence of a CREATE_SESSION behind another session of the client ID"
            number = (made[client] + 1) & 0xFFFFFFFF
            expect.equal(asked.csa_sequence, number, NEXT_SESSION, what, outcome=outcome)
        if call.succeeded("CREATE_SESSION"):
            made[client] = asked.csa_sequence

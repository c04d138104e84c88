"""The roles that a server says in EXCHANGE_ID, at metadata server and data servers."""

from steertag.suite import expect, kinds
from steertag.suite.nfs_client.layout_user import DS, ROLES


def register(client, requirement_id, asked):
    """The roles in the reply to EXCHANGE_ID with the roles `asked`."""
    outcome = expect(client.exchange_id(eia_flags=asked), requirement_id, must=[kinds.REPLY])
    return outcome.result["EXCHANGE_ID"].resok4.eir_flags & ROLES


def meet_data_server(bench, user, part, requirement_id, asked=DS, **fields):
    """A new session of the user's client at the data server of a part, and the server's roles. `fields` are of
    CREATE_SESSION."""
    client = bench.data_server_client(user.client, user.device.servers[part.server])
    roles = register(client, requirement_id, asked)
    expect(client.create_session(**fields), requirement_id, must=[kinds.REPLY])
    return client.sessions[0], roles

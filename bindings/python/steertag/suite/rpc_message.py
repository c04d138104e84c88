"""ONC RPC calls as octets (RFC 5531), with the engine's codec."""

import dataclasses

from .. import wire

AUTH_NONE, AUTH_SYS = 0, 1
_CALL, _RPC_VERSION = 0, 2
MACHINE_NAME = "steertag"


@dataclasses.dataclass(frozen=True)
class AuthSys:
    """AUTH_SYS parameters (RFC 5531 appendix A)."""

    uid: int = 0
    gid: int = 0
    gids: tuple = ()
    machinename: str = MACHINE_NAME
    stamp: int = 0

    def body(self):
        """The body of the opaque_auth."""
        writer = wire.Writer().u32(self.stamp).string(self.machinename)
        writer.u32(self.uid).u32(self.gid).u32(len(self.gids))
        for gid in self.gids:
            writer.u32(gid)
        return writer.bytes()


def opaque(text):
    """XDR of counted octets or a string."""
    octets = text.encode() if isinstance(text, str) else bytes(text)
    return wire.Writer().opaque(octets).bytes()


def encode_call(xid, program, version, procedure, auth=None, rpc_version=_RPC_VERSION):
    """The header of a call. `auth`: AuthSys, None for AUTH_NONE, or a (flavour, body) pair."""
    writer = wire.Writer().u32(xid).u32(_CALL).u32(rpc_version)
    writer.u32(program).u32(version).u32(procedure)
    if auth is None:
        auth = (AUTH_NONE, b"")
    elif isinstance(auth, AuthSys):
        auth = (AUTH_SYS, auth.body())
    flavour, body = auth
    return writer.u32(flavour).opaque(body).u32(AUTH_NONE).u32(0).bytes()

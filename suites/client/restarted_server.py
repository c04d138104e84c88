"""A server of NFS version 4.1 that seems to restart: it forgets the session and the client (RFC 8881 8.4.2)."""

from .pnfs.striped_server import NFS4, StripedServer

OTHER = 1 << 63  # The bit of a client ID that the client sees flipped.


class RestartedServer(StripedServer):
    """Forgets both at the first call for which `begins` holds. The client's id is another one from then on."""

    def __init__(self, results=None):
        bends = {
            "SEQUENCE": self._forget_session,
            "CREATE_SESSION": self._forget_client,
            "EXCHANGE_ID": self._give_other_id,
            "RECLAIM_COMPLETE": self._complete,
        }
        super().__init__(results={**bends, **(results or {})})
        self.forgot_at = None
        self.known_at = None

    def begins(self, call):
        """Whether the server forgets the client at this call."""
        return "READ" in call

    def _forget_session(self, call, result):
        if self.known_at is None and (self.forgot_at is not None or self.begins(call)):
            self.forgot_at = self.forgot_at or self._tick()
            return type(result)(status=NFS4.Status.NFS4ERR_BADSESSION)
        return None

    def _forget_client(self, _call, result):
        if self.forgot_at is not None and self.known_at is None:
            return type(result)(status=NFS4.Status.NFS4ERR_STALE_CLIENTID)
        return None

    def _give_other_id(self, _call, result):
        if self.forgot_at is not None:
            self.known_at = self.known_at or self._tick()
            result.resok4.eir_clientid ^= OTHER
        return result

    @staticmethod
    def _complete(_call, result):
        return type(result)(status=NFS4.Status.NFS4_OK)

    def _bend_arguments(self, call, name, arguments):
        if name == "CREATE_SESSION" and call.server is None and self.known_at is not None:
            arguments.csa_clientid ^= OTHER
            return True
        if name == "DESTROY_CLIENTID" and call.server is None and self.known_at is not None:
            arguments.dca_clientid ^= OTHER
            return True
        return super()._bend_arguments(call, name, arguments)

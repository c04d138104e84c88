"""The operations of a data server (RFC 8881 13.6)."""

HOUSEKEEPING = frozenset(
    {
        "BACKCHANNEL_CTL",
        "BIND_CONN_TO_SESSION",
        "CREATE_SESSION",
        "DESTROY_CLIENTID",
        "DESTROY_SESSION",
        "EXCHANGE_ID",
        "SECINFO_NO_NAME",
        "SET_SSV",
        "SEQUENCE",
    }
)
IO = frozenset({"COMMIT", "READ", "WRITE", "PUTFH"})

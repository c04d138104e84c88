"""The stable words for the outcome of a message, and sets of them that cases share."""

REPLY = "reply"  # accepted, SUCCESS, and status OK if it has a status
ERR_VERS = "err-vers"
ERR_CHUNK = "err-chunk"
ERROR_OTHER = "error-other"  # RDMA_ERROR with another code.
CALL = "call"  # A CALL in the reverse direction with the XID of the message.
GARBAGE = "garbage"  # An answer that does not decode.
SILENCE = "silence"  # Proved: later calls were answered.
DISCONNECT = "disconnect"
TERMINATE = "terminate"  # RDMAP Terminate from the target.
VIOLATION = "violation"  # The target broke RDMA or record marking, and we ended the connection.
HANG = "hang"
DENIED = "rpc:denied"
# And, with a value: "nfs:NFS3ERR_IO", "mount:MNT3ERR_ACCES", "rpc:GARBAGE_ARGS".

CLOSED = (DISCONNECT, TERMINATE)
UNANSWERED = (SILENCE, DISCONNECT, TERMINATE, VIOLATION, HANG)
# Never a legal answer to a legal call of a helper.
BROKEN = (*UNANSWERED, GARBAGE, ERR_VERS, ERR_CHUNK, ERROR_OTHER, CALL)
REFUSED = (ERR_CHUNK, "rpc:GARBAGE_ARGS")

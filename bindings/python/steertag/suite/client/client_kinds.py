"""The stable words for what can come of one use of a client."""

COMPLETED = "completed"  # exit status 0, and the copy is the source
# Completed, but the client has ended a connection, and did the rest on another.
LEFT = "left"
DONE = (COMPLETED, LEFT)
REFUSED = "refused"  # another exit status: an error was reported.
# Exit status 0 and a wrong copy, or octets in it that were never written.
CORRUPTED = "corrupted"
HANG = "hang"  # no end within the limit
CRASH = "crash"  # ended by a signal of its own making

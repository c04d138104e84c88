"""The suite's own client of NFS and MOUNT: messages by procedure, COMPOUND, sessions, files."""

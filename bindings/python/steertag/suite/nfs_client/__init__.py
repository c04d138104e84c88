"""The suite's client of NFS and MOUNT: messages by procedure, COMPOUND, sessions, files."""

"""Sessions of NFS version 4.1, and the reverse direction: backchannels and callbacks."""

"""RoCEv2 of our own over a network with faults that the kernel of a machine makes (netem)."""

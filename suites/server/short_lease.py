"""Leases that end while a case waits.

They are waited for, so that the server needs short ones. Ours has them with `--server-arg=--lease=5`.
"""

LONGEST_LEASE_S = 10
REMEDY = "a server with a lease of ten seconds at most: --server-arg=--lease=5"


def need_short(bench, lease_s):
    """Ends the case unless a lease of so many seconds can be waited for."""
    if lease_s > LONGEST_LEASE_S:
        bench.not_testable(f"the lease is longer than {LONGEST_LEASE_S} s", REMEDY)

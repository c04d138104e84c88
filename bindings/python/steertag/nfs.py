"""NFS and MOUNT, and their binding to RPC-over-RDMA."""

# Bound at its first import: most commands need none of the hundreds of classes.
import sys

from . import _engine, engine_problem as _problem

if _engine is None:
    raise ImportError(_problem)

_engine.bind_nfs(sys.modules[__name__])

"""NFS and MOUNT, and their binding to RPC-over-RDMA."""

# Made when it is first imported: the classes are hundreds, and most commands need none of them.
import sys

from . import _engine, engine_problem

if _engine is None:
    raise ImportError(engine_problem)

_engine.bind_nfs(sys.modules[__name__])

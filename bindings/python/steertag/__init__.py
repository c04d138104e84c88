"""Steertag: conformance and interoperability of RPC-over-RDMA version 1 and NFS/RDMA.

`steertag.wire`, `rpc`, `nfs`, `fabric`, `ledger`, `conformance`, `trace`, `mutate` and `peer` are
the folders of the engine. Cases are written with `steertag.suite`.
"""

import importlib
import sys

from . import build_paths
from ._version import __version__

_FOLDERS = (
    "wire",
    "rpc",
    "ledger",
    "trace",
    "conformance",
    "fabric",
    "mutate",
    "peer",
)

_extra = build_paths.engine_directory()
if _extra is not None and _extra.is_dir():
    __path__.append(str(_extra))

# One sentence if the native module is missing, else None.
engine_problem = None
try:
    _engine = importlib.import_module("steertag._engine")
except ModuleNotFoundError as error:
    if error.name != "steertag._engine":
        raise
    _engine = None
    engine_problem = (
        f"Steertag's engine is not built: no _engine module in {_extra or build_paths.PACKAGE}; "
        "run `ci/quickstart --build`, or point STEERTAG_BUILD at a build directory"
    )

if _engine is not None:
    for _name in _FOLDERS:
        globals()[_name] = sys.modules[f"{__name__}.{_name}"] = getattr(_engine, _name)


def __getattr__(name):
    if name == "nfs" and _engine is not None:
        return importlib.import_module("steertag.nfs")
    if name in (*_FOLDERS, "nfs"):
        raise ImportError(engine_problem)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""NFS version 3 and MOUNT arguments and results by procedure, with the engine's codecs."""

from .. import nfs
from . import kinds


def nfs_arguments(procedure, arguments, fields):
    """(procedure number, octets of the arguments). `procedure` is a name ("READ") or a number."""
    raise NotImplementedError


def read_result(program, version, procedure, octets, items):
    """(kind, decoded result or None, fault text). `items` are the octets of returned write chunks,
    which are put back where the results left them out."""
    raise NotImplementedError


__all__ = ["kinds", "nfs", "nfs_arguments", "read_result"]

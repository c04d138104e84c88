"""COMPOUND by names of operations (RFC 8881 16.2): arguments from fields, results by name."""

import dataclasses

from ... import nfs
from ..cases.case_end import EXCHANGES, lacking

NFS4 = nfs.nfs4
ASKED = (NFS4.PROGRAM, NFS4.VERSION, NFS4.NFSPROC4_COMPOUND)


@dataclasses.dataclass
class CompoundReply:
    """A decoded COMPOUND4res, or CB_COMPOUND4res."""

    status: object
    tag: str
    results: list  # (Opnum, result), in order
    owed: str = dataclasses.field(default=EXCHANGES, compare=False, repr=False)

    def __getitem__(self, name):
        """The first result of the operation of this name. Without one the case ends as failed under
        `owed`."""
        found = self.all(name)
        if not found:
            raise lacking(self.owed, f"result of {name}")
        return found[0]

    def __contains__(self, name):
        return any(number.name == name for number, _ in self.results)

    def all(self, name):
        """The results of every operation of this name, in order. One that failed has no arm for
        success. If the COMPOUND succeeded all the same, the case ends as failed under `owed`."""
        found = [result for number, result in self.results if number.name == name]
        if int(self.status) == 0 and any(_failed(result) for result in found):
            raise lacking(self.owed, f"result of {name}, which failed in a COMPOUND of NFS4_OK")
        return found


def _failed(result):
    return int(getattr(result, "status", 0)) != 0


def operation(name, /, **fields):
    """(name, arguments): `operation("LOOKUP", objname="file")`. A struct may be a dict of its fields."""
    return name, (built(NFS4.args_class(name), fields) if NFS4.args_class(name) else None)


def built(kind, fields):
    """A data class from a dict; dicts inside become the data classes of their fields."""
    factories = {field.name: field.default_factory for field in dataclasses.fields(kind)}
    return kind(
        **{
            name: built(factories[name], value) if isinstance(value, dict) else value
            for name, value in fields.items()
        }
    )


def argarray(operations):
    """Operations in the form of encode_args. A bare name is an operation with default arguments."""
    return [operation(each) if isinstance(each, str) else each for each in operations]


def compound_arguments(operations, minorversion=1, tag="", count=None):
    """The octets of COMPOUND4args. Octets in place of arguments are sent unchanged; `count` may be
    wrong."""
    fixed = NFS4.CompoundArgs(tag=tag, minorversion=minorversion)
    return NFS4.encode_args(argarray(operations), fixed, count)


def read_compound(octets):
    """The CompoundReply of an encoded COMPOUND4res. Raises DecodeError."""
    fixed, results = NFS4.decode_result(octets)
    return CompoundReply(fixed.status, fixed.tag, results)

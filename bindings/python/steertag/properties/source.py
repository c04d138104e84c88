"""Values as Python source, for the text of a case."""

import dataclasses
import enum

# Names of the engine's modules in a case.
_MODULES = ("wire", "rpc", "nfs")
# A run of one octet of at least this length becomes a product.
_SHORTEST_RUN = 8


def source(value):
    """An expression that gives an equal value, in a file that imports wire, rpc and nfs."""
    if isinstance(value, enum.Enum):
        return f"{_module(value)}.{type(value).__name__}.{value.name}"
    if isinstance(value, (bytes, bytearray)):
        return _octets(bytes(value))
    if dataclasses.is_dataclass(value):
        return _data_class(value)
    if isinstance(value, list):
        return f"[{', '.join(source(each) for each in value)}]"
    return repr(value)


def _octets(value):
    if len(value) >= _SHORTEST_RUN and value == value[:1] * len(value):
        return f"{value[:1]!r} * {len(value)}"
    return repr(value)


def _data_class(value):
    """The constructor with the fields that differ from their defaults."""
    plain = type(value)()
    given = [
        f"{field.name}={source(getattr(value, field.name))}"
        for field in dataclasses.fields(value)
        if getattr(value, field.name) != getattr(plain, field.name)
    ]
    return f"{_module(value)}.{type(value).__name__}({', '.join(given)})"


def _module(value):
    name = type(value).__module__.rpartition(".")[2]
    return name if name in _MODULES else "wire"

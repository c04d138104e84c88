"""IDs that the results of a COMPOUND assign and later calls name: client ids, session ids, stateids.

Their parts may be small numbers, which a search through octets does not tell from any others."""

import dataclasses

# Octets of the fields that hold them (RFC 8881 18.35.2, 18.36.2, 3.3.12).
_FIELDS = {"eir_clientid": 8, "csr_sessionid": 16, "other": 12}


def assigned_ids(result):
    """{path: octets} of the IDs that a CompoundReply assigns."""
    found = {}
    for number, (operation, value) in enumerate(result.results):
        _collect(found, f"{number}.{operation.name}", value)
    return found


def _collect(found, path, value):
    if isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            _collect(found, f"{path}.{number}", each)
    if not dataclasses.is_dataclass(value):
        return
    for field in dataclasses.fields(value):
        place, each = f"{path}.{field.name}", getattr(value, field.name)
        if field.name in _FIELDS:
            found[place] = _octets(each, _FIELDS[field.name])
        else:
            _collect(found, place, each)


def _octets(value, length):
    return value.to_bytes(length, "big") if isinstance(value, int) else bytes(value)

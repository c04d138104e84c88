"""Arguments and results of direct access in words."""

from .field_words import field_words

_ARGUMENTS = {
    "REFS": (("fh", "file"), ("offset", "offset"), ("count", "count"), ("refs", "want_refs")),
    "READ": (("fh", "file"), ("offset", "offset"), ("count", "count"), ("refs", "want_refs")),
    "BATCH": (("reads", "reads"),),
    "RETURN": (("refs", "refs"),),
}
_RESULTS = {
    "HELLO": (("lease", "lease_seconds"), ("most", "most_references")),
    "REFS": (("size", "size"), ("refs", "refs")),
    "READ": (("data", "data"), ("eof", "eof"), ("refs", "refs")),
}
_WITHOUT_STATUS = {
    "BATCH": (("results", "results"),),
    "COUNTERS": (("grants", "grants"), ("revocations", "revocations"), ("faults", "faults")),
}


def procedure_name(module, procedure):
    """ "direct READ" """
    return f"direct {module.Procedure(procedure).name}"


def argument_words(module, procedure, arguments):
    """The decoded arguments (None for void); "" if none matter."""
    return field_words(arguments, _ARGUMENTS.get(module.Procedure(procedure).name, ()), None)


def result_words(module, procedure, result):
    """The status, if there is one, then what matters of the result."""
    name = module.Procedure(procedure).name
    status = getattr(result, "status", None)
    if status is None:
        return f"SUCCESS {field_words(result, _WITHOUT_STATUS.get(name, ()), None)}".rstrip()
    if int(status) != 0:
        return status.name
    return f"{status.name} {field_words(result.resok4, _RESULTS.get(name, ()), None)}".rstrip()

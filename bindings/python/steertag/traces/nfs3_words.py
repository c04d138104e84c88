"""Arguments and results of NFSv3 and MOUNTv3 in words."""

from .. import nfs
from .field_words import field_words, name_words

_WHERE = (("fh", "where.dir"), ("name", "where.name"))
_ARGUMENTS = {
    "GETATTR": (("fh", "object"),),
    "SETATTR": (
        ("fh", "object"),
        ("size", "new_attributes.size"),
        ("mode", "new_attributes.mode"),
    ),
    "LOOKUP": (("fh", "what.dir"), ("name", "what.name")),
    "ACCESS": (("fh", "object"), ("access", "access")),
    "READLINK": (("fh", "symlink"),),
    "READ": (("fh", "file"), ("offset", "offset"), ("count", "count")),
    "WRITE": (("fh", "file"), ("offset", "offset"), ("count", "count"), ("", "stable")),
    "CREATE": (*_WHERE, ("", "how.mode")),
    "MKDIR": _WHERE,
    "SYMLINK": (*_WHERE, ("to", "symlink.symlink_data")),
    "MKNOD": (*_WHERE, ("", "what.type")),
    "REMOVE": (("fh", "object.dir"), ("name", "object.name")),
    "RMDIR": (("fh", "object.dir"), ("name", "object.name")),
    "RENAME": (
        ("fh", "from_.dir"),
        ("name", "from_.name"),
        ("to", "to.name"),
    ),
    "LINK": (("fh", "file"), ("to", "link.name")),
    "READDIR": (("fh", "dir"), ("cookie", "cookie"), ("count", "count")),
    "READDIRPLUS": (
        ("fh", "dir"),
        ("cookie", "cookie"),
        ("dircount", "dircount"),
        ("maxcount", "maxcount"),
    ),
    "FSSTAT": (("fh", "fsroot"),),
    "FSINFO": (("fh", "fsroot"),),
    "PATHCONF": (("fh", "object"),),
    "COMMIT": (("fh", "file"), ("offset", "offset"), ("count", "count")),
}
_RESULTS = {
    "LOOKUP": (("fh", "object"),),
    "ACCESS": (("access", "access"),),
    "READLINK": (("to", "data"),),
    "READ": (("count", "count"), ("eof", "eof")),
    "WRITE": (("count", "count"), ("", "committed")),
    "CREATE": (("fh", "obj"),),
    "MKDIR": (("fh", "obj"),),
    "SYMLINK": (("fh", "obj"),),
    "MKNOD": (("fh", "obj"),),
    "READDIR": (("entries", "entries"), ("eof", "eof")),
    "READDIRPLUS": (("entries", "entries"), ("eof", "eof")),
    "FSINFO": (("rtmax", "rtmax"), ("wtmax", "wtmax")),
}


def procedure_name(module, number):
    """ "NFSv3 READ" of a procedure of nfs3 or mount3."""
    program = "NFSv3" if module is nfs.nfs3 else "MOUNTv3"
    return f"{program} {module.Procedure(number).name}"


def argument_words(module, procedure, arguments):
    """The decoded arguments (None for void); "" if none matter."""
    if module is nfs.mount3:
        path = getattr(arguments, "dirpath", getattr(arguments, "path", None))
        return "" if path is None else name_words(path)
    return field_words(arguments, _ARGUMENTS.get(module.Procedure(procedure).name, ()), None)


def result_words(module, procedure, result):
    """The status, then what matters of the result."""
    status = getattr(result, "status", None)
    if status is None:
        return "SUCCESS"
    if int(status) != 0:
        return status.name
    if module is nfs.mount3:
        return field_words(result, (("", "status"), ("fh", "fhandle")), None)
    found = field_words(
        getattr(result, "ok", None), _RESULTS.get(module.Procedure(procedure).name, ()), None
    )
    return f"{status.name} {found}".rstrip()

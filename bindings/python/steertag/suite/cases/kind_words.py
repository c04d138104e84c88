"""The words for kinds of outcomes: those of kinds.py and client_kinds.py, and prefixed statuses."""

import difflib

from ... import rpc
from ..client import client_kinds
from . import kinds

# Similar words in an error.
MOST_NEAR = 3


def _plain():
    words = [*vars(kinds).items(), *vars(client_kinds).items()]
    return frozenset(word for name, word in words if name.isupper() and isinstance(word, str))


def _statuses():
    """{prefix: names of its statuses}. The classes of NFS are bound on first use."""
    from ...nfs import mount3, nfs3, nfs4

    return {
        "rpc": set(rpc.AcceptStatus.__members__),
        "nfs": {*nfs3.Status.__members__, *nfs4.Status.__members__},
        "mount": set(mount3.Status.__members__),
    }


_PLAIN = _plain()


def problem(word):
    """None for a kind, else a sentence with the most similar kinds."""
    if word in _PLAIN:
        return None
    known = set(_PLAIN)
    if isinstance(word, str) and ":" in word:
        known |= {f"{each}:{name}" for each, names in _statuses().items() for name in names}
        if word in known:
            return None
    near = difflib.get_close_matches(str(word), sorted(known), n=MOST_NEAR, cutoff=0)
    return f"{word!r} is no kind of outcome; near are {', '.join(near)}"

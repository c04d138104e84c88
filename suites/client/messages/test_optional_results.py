"""Results of NFS version 3 without the attributes or the filehandle that they may have (RFC 1813 2.5)."""

import pytest

from steertag import rpc, wire
from steertag.suite import ANY, case, client_kinds as kinds, expect
from steertag.suite.client.script import NFS, procedure_of, Script
from ..call_kinds import word, words

OPTIONAL = "RFC1813-2.5-1"
# Of our own client, which uses version 4.1 otherwise.
OWN = ["--nfs", "3"]
ATTRIBUTES_OCTETS, BEFORE_OCTETS = 84, 24  # fattr3, wcc_attr
# What results begin with behind NFS3_OK: a filehandle; one that may lack; attributes, and those of before a change.
HANDLE, MAYBE_HANDLE, MAYBE_ATTRIBUTES, MAYBE_BEFORE = range(4)
CHANGED = (MAYBE_BEFORE, MAYBE_ATTRIBUTES)
# Not those of READ: where a server places the data in a chunk, it knows where they begin.
RESULTS = {
    "setattr": (2, CHANGED),
    "lookup": (3, (HANDLE, MAYBE_ATTRIBUTES, MAYBE_ATTRIBUTES)),
    "access": (4, (MAYBE_ATTRIBUTES,)),
    "write": (7, CHANGED),
    "create": (8, (MAYBE_HANDLE, MAYBE_ATTRIBUTES, *CHANGED)),
    "fsinfo": (19, (MAYBE_ATTRIBUTES,)),
    "commit": (21, CHANGED),
}
NAMES = ["lookup", "write", "create", "fsinfo", "commit", "created-handle", "any"]


def _bare(results, shape, handles):
    """The results of a success without what they may lack; with its filehandles unless `handles`."""
    made, at = [results[:4]], 4
    for kind in shape:
        if kind in (HANDLE, MAYBE_HANDLE):
            here = at + (4 if kind == MAYBE_HANDLE else 0)
            has = kind == HANDLE or word(results, at) != 0
            end = here + 4 + -(-word(results, here) // 4) * 4 if has else here
            lacks = kind == MAYBE_HANDLE and handles
            made.append(words(0) if lacks else results[at:end])
        else:
            octets = BEFORE_OCTETS if kind == MAYBE_BEFORE else ATTRIBUTES_OCTETS
            end = at + 4 + (octets if word(results, at) != 0 else 0)
            made.append(words(0))
        at = end
    return b"".join(made) + results[at:]


class Bare(Script):
    """Replies to some procedures lack what they may lack."""

    def __init__(self, names, handles):
        self._shapes = dict(RESULTS[name] for name in names)
        self._handles = handles
        self.changed = 0

    def on_reply(self, conn, call, reply):
        procedure = procedure_of(call)
        if procedure is None or procedure[:2] != (NFS, 3) or procedure[2] not in self._shapes:
            return None
        try:
            results = bytes(rpc.Reply.decode(reply)[1])
        except wire.DecodeError:
            return None
        if word(results, 0) != 0:
            return None
        self.changed += 1
        bare = _bare(results, self._shapes[procedure[2]], self._handles)
        return bytes(reply[: len(reply) - len(results)]) + bare


@pytest.mark.parametrize("name", NAMES)
@case("client.optional-results.{name}", requirements=[OPTIONAL], over=ANY)
def test_optional_results(bench, name):
    """Results have no attributes: those of one procedure, or of any. Or CREATE gives no filehandle. The client
    asks for what it needs of that, and completes."""
    if not bench.client.ours:
        bench.need("client-nfs3")
    script = {
        "any": Bare(RESULTS, handles=True),
        "created-handle": Bare(["create"], handles=True),
    }.get(name) or Bare([name], handles=False)
    outcome = bench.use(script, own=OWN)
    if not script.changed:
        bench.not_testable("the client never calls a procedure with such results")
    expect(outcome, OPTIONAL, must=[kinds.COMPLETED])

"""Kinds of stateids: the special ones, and those that a connection's replies gave."""

import zlib

from .. import nfs

_ZEROS, _ONES = bytes(12), b"\xff" * 12
# RFC 8881 8.2.3.
_SPECIAL = {
    (0, _ZEROS): "anonymous",
    (0xFFFFFFFF, _ONES): "READ bypass",
    (1, _ZEROS): "current",
    (0xFFFFFFFF, _ZEROS): "invalid",
}
# More than a case or a client of one capture holds at a time; beyond that the oldest is forgotten.
MOST_STATEIDS = 4096


class Stateids:
    """What is known of stateids so far."""

    def __init__(self):
        self._kinds = {}  # other: kind

    def recalled(self, stateid):
        """A CB_RECALL names it."""
        self._add("delegation", stateid)

    def learn(self, name, value):
        """The result of the operation `name`, which may give stateids."""
        ok = getattr(value, "resok4", None)
        if ok is None or int(value.status) != 0:
            return
        if name == "OPEN":
            self._add("open", ok.stateid)
            given = {"OPEN_DELEGATE_READ": "read", "OPEN_DELEGATE_WRITE": "write"}
            kind = given.get(ok.delegation.delegation_type.name)
            if kind is not None:
                self._add("delegation", getattr(ok.delegation, kind).stateid)
        elif name == "LOCK":
            self._add("lock", ok.lock_stateid)
        elif name == "LAYOUTGET":
            self._add("layout", ok.logr_stateid)

    def words(self, stateid):
        """ "anonymous stateid", "open stateid seqid 1"; with a checksum if its kind is unknown."""
        other = bytes(stateid.other)
        special = _SPECIAL.get((stateid.seqid, other))
        if special is not None:
            return f"{special} stateid"
        kind = self._kinds.get(other)
        if kind is None:
            return f"stateid #{zlib.crc32(other):08x} seqid {stateid.seqid}"
        return f"{kind} stateid seqid {stateid.seqid}"

    def _add(self, kind, stateid):
        self._kinds[bytes(stateid.other)] = kind
        while len(self._kinds) > MOST_STATEIDS:
            del self._kinds[next(iter(self._kinds))]


def is_stateid(value):
    return isinstance(value, nfs.nfs4.StateId)

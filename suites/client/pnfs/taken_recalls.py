"""Recalls of layouts that a client has taken, and that the reference server knows nothing of (RFC 8881 12.5.5.2.1)."""

import dataclasses

from steertag import nfs

NFS4 = nfs.nfs4
FILE_RETURN = "LAYOUTRETURN4_FILE"
# By this the layout is back.
ENDS = ("LAYOUTRETURN", "CLOSE")


class TakenRecalls:
    """Counts them in stateids, in both directions. Until the layout is back it is not granted again."""

    def __init__(self):
        self._counts = {}  # stateid.other of a layout: recalls
        self._due = set()  # filehandles whose layouts have to go back

    def add(self, call, recalls):
        """The client has taken so many recalls of what this LAYOUTGET has granted."""
        other = bytes(call.result("LAYOUTGET").logr_stateid.other)
        self._counts[other] = self._counts.get(other, 0) + recalls
        self._due.add(call.file)

    def bend_arguments(self, call, name, arguments):
        """Whether the reference server is to see other arguments. It refuses what a recall is in the way of."""
        stateid = _layout_stateid(name, arguments)
        known = self._known(stateid)
        if stateid and stateid.seqid > known:
            stateid.seqid -= known
        if self._is_in_the_way(call, name):
            arguments.loga_iomode = NFS4.LayoutIomode.LAYOUTIOMODE4_ANY
            return True
        return bool(known)

    def result_of(self, call, name, result):
        """What the client gets in the place of the result; None: the same."""
        if self._is_in_the_way(call, name):
            return dataclasses.replace(result, status=NFS4.Status.NFS4ERR_RETURNCONFLICT)
        if int(getattr(result, "status", 1)) != 0:
            return None
        if name in ENDS:
            self._due.discard(call.handle)
        stateid = _new_stateid(name, result)
        known = self._known(stateid)
        if not known:
            return None
        stateid.seqid += known
        return result

    def _known(self, stateid):
        return self._counts.get(bytes(stateid.other), 0) if stateid else 0

    def _is_in_the_way(self, call, name):
        return name == "LAYOUTGET" and call.handle in self._due


def _new_stateid(name, result):
    """The stateid of a layout in a result; None without one."""
    if name == "LAYOUTGET":
        return result.resok4.logr_stateid
    if name == "LAYOUTRETURN" and result.resok4.lrs_present:
        return result.resok4.lrs_stateid
    return None


def _layout_stateid(name, arguments):
    """The stateid of a layout that an operation at the metadata server carries; None of any other."""
    if name == "LAYOUTGET":
        return arguments.loga_stateid
    if name == "LAYOUTCOMMIT":
        return arguments.loca_stateid
    if name != "LAYOUTRETURN":
        return None
    returned = arguments.lora_layoutreturn
    return returned.lr_layout.lrf_stateid if returned.lr_returntype.name == FILE_RETURN else None

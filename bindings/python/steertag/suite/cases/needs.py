"""The needs of cases, of the target and of the provider, and whether this run has them.

A case names its needs in its decorator. Two are implied: calls of NFS version 3 need nfs3, and
files of the target need export. Where the profile denies nfs3, files are made by version 4.1.

A need that the target lacks gives the verdict unsupported. Its profile (`supports:` in its YAML),
its announcement or its answer to a probe is the proof. A need that this run cannot offer gives
not-testable, with the option that brings it.
"""

from ... import wire
from ..exchange.link import Refused
from ..nfs_client.nfs4_probe import PROBES
from .case_end import HarnessError, NotTestable, Unsupported
from .transport import LACKS

# need: its meaning, for the report and for writers of profiles
PROVIDER_NEEDS = {
    "fault-hooks": "the provider can bend octets below the message level",
    "bent-packets": "the provider can bend packets of InfiniBand's transport",
    "remote-invalidation": "the provider can take Send with Invalidate",
    "exact-private-data": "the peer gets the private data as it was sent, and no zeros behind it",
    "chosen-port": "the provider can connect from a port of our choice",
}
TARGET_NEEDS = {
    "nfs3": "the target executes NFS version 3, not only its NULL procedure",
    "export": "the target lets the suite mount an export and write to it",
    "large-inline": "the target announces inline thresholds above 1024 octets",
    "multiple-read-chunks": "the target takes calls with more than one read chunk",
    "tcp": "the same server is reached over TCP too",
    "nfs41": "the target executes NFS version 4.1: it makes sessions",
    "backchannel": "the target calls back over the connection that made the session",
    "delegations": "the target delegates a file to a reader who can be called back",
    "direct-access": "the target has the program of direct access beside NFS",
    "pnfs-files": "the target is a metadata server of pNFS that grants file layouts",
}
# For one form of a case that runs over any transport; `over` of its decorator cannot say it.
TRANSPORT_NEEDS = {"rdma": "the target is reached over RDMA"}
NEEDS = {**PROVIDER_NEEDS, **TARGET_NEEDS, **TRANSPORT_NEEDS}
# Needs of cases about another transport than that of most targets: a run without it is complete.
OTHER_TRANSPORTS = ("bent-packets",)
# What brings a need that this run lacks.
REMEDIES = {
    **dict.fromkeys(PROVIDER_NEEDS, "a target over iwarp://"),
    "bent-packets": "a target over roce://",
    "tcp": "--tcp URL, or `tcp:` in the profile",
}
# Needs that another need includes.
NEEDED_FIRST = {
    "backchannel": ("nfs41",),
    "delegations": ("nfs41", "backchannel"),
    "pnfs-files": ("nfs41", "backchannel"),
}
# Needs that no decorator names.
IMPLIED = ("nfs3", "export", "chosen-port", *TRANSPORT_NEEDS)
# Needs with a meaning over RDMA only.
RDMA_NEEDS = (
    *PROVIDER_NEEDS,
    *TRANSPORT_NEEDS,
    "large-inline",
    "multiple-read-chunks",
    "direct-access",
)


def is_about_another_transport(reason):
    """Whether a case with this reason of its end is about a transport that its target does not have."""
    return any(reason.endswith(f"{need}: {PROVIDER_NEEDS[need]}") for need in OTHER_TRANSPORTS)


def check_need(need, profile, link):
    """Raises Unsupported or NotTestable unless this run of the target over the link has the need.
    Raises HarnessError if the probe fails."""
    for first in NEEDED_FIRST.get(need, ()):
        check_need(first, profile, link)
    if need in TRANSPORT_NEEDS:
        if link.transport != need:
            reason, remedy = LACKS[link.transport]
            raise NotTestable(reason, remedy=remedy)
    elif need in PROVIDER_NEEDS:
        if not _provider_has(need, link.provider.capabilities):
            raise NotTestable(f"needs {need}: {PROVIDER_NEEDS[need]}", remedy=REMEDIES[need])
    elif profile.supports.get(need) is False:
        raise Unsupported(f"needs {need}: the target's profile says that it is not there")
    elif need in PROBES or link.probed(need, None):
        try:
            lack = link.probed(need, PROBES.get(need))
        except Refused as refused:
            raise HarnessError(f"needs {need}: the target cannot be asked", str(refused)) from None
        if lack:
            raise (Unsupported if lack.proven else NotTestable)(f"needs {need}: {lack.sentence}")
    elif need == "tcp" and link.twin is None:
        reason = "needs tcp: no URL says how the target is reached over TCP"
        raise NotTestable(reason, link.no_twin, REMEDIES[need])
    elif need == "large-inline" and not _large(link.thresholds):
        raise Unsupported(f"needs {need}: the target announces no thresholds above 1024 octets")


def _provider_has(need, can):
    if need == "remote-invalidation":
        return can.remote_invalidation or can.windows
    return getattr(can, need.replace("-", "_"))


def _large(thresholds):
    smallest = min(thresholds.to_server_bytes, thresholds.to_client_bytes)
    return smallest > wire.DEFAULT_INLINE_BYTES

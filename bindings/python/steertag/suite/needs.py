"""What a case can need of the target and of the provider, and how a run finds out.

A need is met by the provider's capabilities or by the target's profile (`supports:` in its YAML).
A need that the profile denies gives the verdict unsupported; one that this run cannot offer gives
not-testable.
"""

# need: (where it is looked up, sentence for the report)
NEEDS = {
    "fault-hooks": ("provider", "the provider can bend octets below the message level"),
    "byte-capture": ("provider", "the provider shows the real octets of the stream"),
    "remote-invalidation": ("provider", "the provider can take Send with Invalidate"),
    "nfs3": ("target", "the target serves NFS version 3"),
    "nfs4.0": ("target", "the target serves NFS version 4.0"),
    "nfs4.1": ("target", "the target serves NFS version 4.1"),
    "export": ("target", "the target lets the suite mount an export and write to it"),
    "gss": ("target", "the target serves RPCSEC_GSS"),
    "large-inline": ("target", "the target announces inline thresholds above 1024 octets"),
    "multiple-read-chunks": ("target", "the target takes calls with more than one read chunk"),
    "backchannel": ("target", "the target makes calls in the reverse direction"),
}
_PROVIDER_FIELDS = {
    "fault-hooks": "fault_hooks",
    "byte-capture": "byte_capture",
    "remote-invalidation": "remote_invalidation",
}


def provider_has(need, capabilities):
    """Whether the provider's capabilities meet a need of the kind "provider"."""
    return bool(getattr(capabilities, _PROVIDER_FIELDS[need]))

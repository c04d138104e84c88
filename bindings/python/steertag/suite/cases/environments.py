"""Environments of a case: what a connection has negotiated, and what else happens on it.

Two features may work alone and fail together. Six environments hold each pair of values of two axes: a covering array
of strength two. A message that is sent in all six meets each pair. Both sides decide what a connection has, so a case
also notes the environment that it met."""

import dataclasses

from ...verdict import Verdict
from .case_end import NotTestable
from .case_run import current_run


@dataclasses.dataclass(frozen=True)
class Environment:
    """One row of the array. Its text is a part of ids of cases.

    - `inline`: the threshold both ways, in octets.
    - `invalidates`: both sides set R (RFC 8797 4.1).
    - `crc_off`: MPA without CRC.
    - `reconnected`: a connection with other thresholds came first, and was lost amid a call.
    - `crowded`: calls before and behind are in flight too.
    """

    inline: int
    invalidates: bool = False
    crc_off: bool = False
    reconnected: bool = False
    crowded: bool = False

    def __str__(self):
        words = [word for word in FLAGS if getattr(self, word)]
        return "-".join([f"inline-{self.inline}", *words]).replace("_", "-")

    @classmethod
    def of(cls, text):
        """The environment with this text; raises ValueError."""
        _, inline, *words = text.split("-", 2)
        flags = {word: word.replace("_", "-") in "".join(words) for word in FLAGS}
        made = cls(int(inline), **flags)
        if str(made) != text:
            raise ValueError(f"{text!r} is no environment")
        return made


FLAGS = ("invalidates", "crc_off", "reconnected", "crowded")
# The values of each field that have to meet those of the others.
AXES = {"inline": (1024, 4096, 262144), **dict.fromkeys(FLAGS, (False, True))}
ENVIRONMENTS = (
    Environment(1024, crowded=True),
    Environment(1024, invalidates=True, crc_off=True, reconnected=True),
    Environment(4096, reconnected=True),
    Environment(4096, invalidates=True, crc_off=True, crowded=True),
    Environment(262144, crc_off=True),
    Environment(262144, invalidates=True, reconnected=True, crowded=True),
)


def note_met(wanted, limits, crc, crowded):
    """Notes what a connection has of the environment `wanted`, and returns that. `limits` is its wire.Negotiated, and
    `crc` whether it has one, or None where this side cannot see that."""
    met = dataclasses.replace(
        wanted,
        inline=min(limits.to_server_bytes, limits.to_client_bytes),
        invalidates=limits.remote_invalidation,
        crc_off=crc is False,
        crowded=crowded,
    )
    current_run().environment = str(met)
    return met


def expect_met(wanted, met, crc, peer):
    """After all that a case judges: it is not testable where the `peer` has made another environment of the one wanted.
    What the provider does not show may be as wanted. What the case has noted stays its verdict."""
    if current_run().verdict is not Verdict.PASS:
        return
    if met.inline < wanted.inline:
        raise NotTestable(f"the {peer} has no larger threshold than {met.inline} octets")
    if wanted.crc_off and crc:
        raise NotTestable(f"the {peer} insists on the CRC")

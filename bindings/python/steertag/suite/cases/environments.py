"""Environments of a case: what a connection has negotiated, and what else happens on it.

Two features may work alone and fail together. Six environments hold each pair of values of two axes: a covering array
of strength two. A message that is sent in all six meets each pair."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Environment:
    """One row of the array. Its text is a part of ids of cases.

    - `inline`: the threshold that our side announces, in octets.
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

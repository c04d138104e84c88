"""Deadlines: every wait of the suite is for an event and is limited by one of these."""

import dataclasses
import time

# The shortest deadline for an answer: a loaded CI machine may not run the target for a second.
ANSWER_FLOOR_MS = 2000
# Round trips that an answer may take; a server in a software-emulated machine needs some hundred
# milliseconds for its first RDMA Read where a NULL call takes a few.
ANSWER_ROUND_TRIPS = 200
# A target that needs longer than this for one call counts as hung whatever its round trip is.
ANSWER_CEILING_MS = 30000
# How long an answer is awaited before silence is proved by probes: it only saves probes, the
# proof itself rests on order.
PATIENCE_FLOOR_MS = 50
PATIENCE_ROUND_TRIPS = 8
# Connecting to a target that is known to be alive; over a device it may take three of the messages that
# the kernel's connection manager sends every 4.3 s.
CONNECT_MS = 5000
DEVICE_CONNECT_MS = 15000
# The first contact with a target whose round trip is unknown: an unreachable one is told quickly.
FIRST_CONTACT_MS = 5000
# The first contact with a target that was just brought back, whose network may have to learn of it.
RESTART_CONTACT_MS = 30000
# From the start of the bundled server to its port file; sanitizers make it slow.
SERVER_START_MS = 20000
# From asking the bundled server to stop to killing it.
SERVER_STOP_MS = 5000


@dataclasses.dataclass(frozen=True)
class Deadlines:
    """Limits in milliseconds that follow from the round trip measured at the first contact and by the last
    probes."""

    round_trip_ms: float = 1.0

    @property
    def answer_ms(self):
        wanted = max(ANSWER_FLOOR_MS, ANSWER_ROUND_TRIPS * self.round_trip_ms)
        return int(min(wanted, ANSWER_CEILING_MS))

    @property
    def patience_ms(self):
        wanted = max(PATIENCE_FLOOR_MS, PATIENCE_ROUND_TRIPS * self.round_trip_ms)
        return int(min(wanted, self.answer_ms))


class Limit:
    """A moment that lies so many milliseconds ahead."""

    def __init__(self, milliseconds):
        self._end = time.monotonic() + milliseconds / 1000

    @property
    def left_ms(self):
        """Milliseconds left, never negative."""
        return max(0, int((self._end - time.monotonic()) * 1000))

    @property
    def passed(self):
        return time.monotonic() >= self._end

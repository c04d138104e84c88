"""Deadlines: every wait of the suite is for an event, and one of these limits it."""

import dataclasses
import time

# The shortest deadline for an answer: a loaded CI machine may stall the target for a second.
ANSWER_FLOOR_MS = 2000
# Round trips that an answer may take. A NULL call takes a few milliseconds in an emulated machine;
# the first RDMA Read takes some hundred.
ANSWER_ROUND_TRIPS = 200
# A call that takes longer counts as hung, whatever the round trip.
ANSWER_CEILING_MS = 30000
# Wait for an answer before probes prove silence. It only saves probes: the proof rests on order.
PATIENCE_FLOOR_MS = 50
PATIENCE_ROUND_TRIPS = 8
# Connecting to a live target. Over a device it may take three messages of the kernel's connection
# manager, which sends one every 4.3 s.
CONNECT_MS = 5000
DEVICE_CONNECT_MS = 15000
# The first contact with a target of unknown round trip: an unreachable one is reported quickly.
FIRST_CONTACT_MS = 5000
# The try of the NFS port of the target's host. A firewall that drops packets costs each process of
# the run this time.
NFS_PORT_TRY_MS = 2000
# The first contact after a restart of the target: its network may need to relearn the address.
RESTART_CONTACT_MS = 30000
# From the start of the bundled server to its port file; sanitizers make it slow.
SERVER_START_MS = 20000
# From SIGTERM to the bundled server until SIGKILL.
SERVER_STOP_MS = 5000


@dataclasses.dataclass(frozen=True)
class Deadlines:
    """Limits in milliseconds by the round trip of the first contact and of the last probes. `distance_ms` is the
    fastest of all."""

    round_trip_ms: float = 1.0
    distance_ms: float = 0.0

    @property
    def answer_ms(self):
        wanted = max(ANSWER_FLOOR_MS, ANSWER_ROUND_TRIPS * self.round_trip_ms)
        return int(min(wanted, ANSWER_CEILING_MS))

    @property
    def patience_ms(self):
        wanted = max(PATIENCE_FLOOR_MS, PATIENCE_ROUND_TRIPS * self.round_trip_ms)
        return int(min(wanted, self.answer_ms))


class Limit:
    """A point in time, so many milliseconds ahead."""

    def __init__(self, milliseconds):
        self._end = time.monotonic() + milliseconds / 1000

    @property
    def left_ms(self):
        """Milliseconds left, never negative."""
        return max(0, int((self._end - time.monotonic()) * 1000))

    @property
    def passed(self):
        return time.monotonic() >= self._end

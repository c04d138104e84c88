"""What netem has done to the packets of a direction, by the counters of the traffic control."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

from lab.failure import LabFailure

TC = "/usr/sbin/tc -s -j"


@dataclasses.dataclass(frozen=True)
class Way:
    """One direction, as the role `netem` makes it: a filter of `device` counts what enters it, and its faults are
    those of `faulty`."""

    name: str
    device: str
    hook: str
    faulty: str


LOOPBACK = Way("lo", "lo", "egress", "lo")
OUT = Way("eth0 out", "eth0", "egress", "eth0")
IN = Way("eth0 in", "eth0", "ingress", "in-eth0")


@dataclasses.dataclass(frozen=True)
class Counters:
    """Counts of packets."""

    entered: int
    dropped: int
    doubled: int
    reordered: int

    @classmethod
    def parse(cls, filters: str, disciplines: str) -> Counters:
        """Of `tc -s -j filter show` and `tc -s -j qdisc show`; LabFailure if they say something else."""
        try:
            entered = sum(
                action["stats"]["packets"]
                for each in json.loads(filters)
                for action in each.get("options", {}).get("actions", ())
            )
            (netem,) = [each for each in json.loads(disciplines) if each["kind"] == "netem"]
            left = netem["packets"] + netem["drops"] + netem["qlen"]
            # netem counts no copies: they are what left without having entered. A packet that overtakes others is
            # put back at the head of the queue.
            return cls(entered, netem["drops"], left - entered, netem["requeues"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LabFailure(f"the counters of tc cannot be read: {error!r}")

    def text(self) -> str:
        return (
            f"{self.entered} packets, {self.dropped} dropped, {self.doubled} doubled, "
            f"{self.reordered} reordered"
        )

    def complete(self) -> bool:
        """Whether there was each of the faults."""
        return min(self.dropped, self.doubled, self.reordered) > 0


def read(do: Callable[[str], list[str]], way: Way) -> Counters:
    """Asks the guest: `do` runs a line of shell there."""
    filters = do(f"{TC} filter show dev {way.device} {way.hook}")
    disciplines = do(f"{TC} qdisc show dev {way.faulty}")
    return Counters.parse("\n".join(filters), "\n".join(disciplines))


def judged(do: Callable[[str], list[str]], name: str, ways: tuple[Way, ...]) -> bool:
    """Prints the counters of each direction; whether each had each of the faults. Without them a run shows nothing."""
    complete = True
    for way in ways:
        counters = read(do, way)
        lacks = "" if counters.complete() else ": not every fault occurred"
        print(f"{name}: {way.name}: {counters.text()}{lacks}", flush=True)
        complete = complete and counters.complete()
    return complete

"""The rounds of a row: all its cells take turns, so that a machine that gets slow hurts all alike."""

import dataclasses
import typing

from steertag.bench.bench_cells import turns

PARTS = 3


def parts_of(rounds):
    """How many rounds each part has. A process keeps the luck of its start, such as where its memory lies. Each part has
    processes of its own, so that the spread shows that luck."""
    parts = (rounds // PARTS + (part < rounds % PARTS) for part in range(PARTS))
    return [each for each in parts if each]


@dataclasses.dataclass(frozen=True)
class Cell:
    """One kind of measurement: `run(seconds)` gives Figures."""

    way: str  # the transport, or whatever is compared
    kind: tuple  # what is done; cells of one kind are compared with each other
    run: typing.Callable = dataclasses.field(compare=False)


def measure(cells, rounds, seconds):
    """{(way, kind): [Figures of each round]}. One round before is for nothing but warmth."""
    for cell in cells:
        cell.run(min(seconds, 0.02))
    found = {(cell.way, cell.kind): [] for cell in cells}
    for cell in turns(cells, rounds):
        found[cell.way, cell.kind].append(cell.run(seconds))
    return found

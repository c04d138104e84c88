"""What is measured: kinds of calls, and the rounds in which all of them take turns."""

import dataclasses

# Of one command; more is no table that anyone reads.
MOST_CELLS = 500
MOST_ROUNDS = 99
MOST_SECONDS = 600
# A measurement goes on for so many calls, so that its quantiles mean something; the engine bounds the time.
LEAST_CALLS = 20


@dataclasses.dataclass(frozen=True)
class Cell:
    """One kind of call."""

    operation: str  # of peer.Bench
    io_bytes: int
    in_flight: int


def cells(operations, sizes, in_flight):
    """Each combination once, in the order of a table."""
    return [
        Cell(operation, size, calls)
        for operation in operations
        for size in sorted(set(sizes))
        for calls in sorted(set(in_flight))
    ]


def turns(wanted, rounds):
    """The cells of all rounds: each round begins with another cell, and every second goes backwards. A machine that
    gets slow meanwhile then hurts all alike."""
    for number in range(rounds):
        first = number * len(wanted) // rounds
        if number % 2:
            yield from reversed([*wanted[first + 1 :], *wanted[: first + 1]])
        else:
            yield from [*wanted[first:], *wanted[:first]]


def measure(target, wanted, arguments):
    """Yields (cell, peer.Measured) of all rounds."""
    for cell in turns(wanted, arguments.rounds):
        bench = target.reader if cell.operation == "read" else target.bench
        yield cell, bench.measure(
            cell.operation,
            io_bytes=cell.io_bytes,
            in_flight=cell.in_flight,
            duration_s=arguments.seconds,
            least_calls=LEAST_CALLS,
            copies=arguments.copy,
        )

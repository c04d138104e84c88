"""What one measurement gave, and what several rounds of it say together."""

import dataclasses
import statistics

GIB = 1024**3
# Spread of the rounds beyond which a figure is marked, and beyond which it is no result.
MARKED = 0.1
NO_RESULT = 0.3
MARK = "~"


@dataclasses.dataclass(frozen=True)
class Figures:
    """One measurement. Processor time is the client's, or the server's where the name says so. Of the READs, `stale` met a
    stale reference and `by_rpc` were made by RPC, in rows that count them. `writes` are another client's meanwhile.
    """

    bytes: int
    calls: int
    elapsed_s: float
    user_s: float
    system_s: float
    server_s: float = 0.0
    response_s: float = 0.0  # the median of the calls
    server_user_s: float = 0.0  # of the server's time, in ticks of 10 ms
    stale: int = 0
    by_rpc: int = 0
    writes: int = 0
    server_bytes: int = 0  # of its memory, in rows that look at it

    @property
    def rate(self):
        """Octets a second."""
        return self.bytes / self.elapsed_s

    @property
    def calls_per_s(self):
        return self.calls / self.elapsed_s

    @property
    def stale_share(self):
        return self.stale / self.calls

    @property
    def rpc_share(self):
        return self.by_rpc / self.calls

    @property
    def writes_per_s(self):
        return self.writes / self.elapsed_s

    @property
    def cpu_s(self):
        return self.user_s + self.system_s

    @property
    def cpu_share(self):
        """Of one processor."""
        return self.cpu_s / self.elapsed_s

    @property
    def server_share(self):
        """Of the server's processor."""
        return self.server_s / self.elapsed_s

    @property
    def cpu_s_per_gib(self):
        return self.cpu_s / self.bytes * GIB

    @property
    def user_s_per_gib(self):
        return self.user_s / self.bytes * GIB

    @property
    def server_s_per_gib(self):
        return self.server_s / self.bytes * GIB

    @property
    def cpu_us_per_call(self):
        return self.cpu_s / self.calls * 1e6

    @property
    def server_us_per_call(self):
        return self.server_s / self.calls * 1e6

    @property
    def server_user_us_per_call(self):
        return self.server_user_s / self.calls * 1e6

    @property
    def response_us(self):
        return self.response_s * 1e6

    @property
    def round_trip_us(self):
        """Of calls one after the other."""
        return self.elapsed_s / self.calls * 1e6


@dataclasses.dataclass(frozen=True)
class Value:
    """A median of rounds, and their spread: what the middle half of them covers, to the median. A machine that others use
    stops a process now and then: the few rounds that it hits say nothing of the rest. The `range` has all rounds.
    """

    median: float
    spread: float
    range: tuple = dataclasses.field(default=(), compare=False)  # lowest, highest

    def text(self, digits=0):
        """The median: marked if the rounds differ much, and in parentheses if it is no result."""
        number = f"{self.median:.{digits}f}"
        if self.spread > NO_RESULT:
            return f"({number})"
        return MARK + number if self.spread > MARKED else number


def value(numbers):
    """The Value of one number a round."""
    numbers = list(numbers)
    median = statistics.median(numbers)
    if len(numbers) < 2 or not median:
        return Value(median, 0.0, (median, median))
    lower, _, upper = statistics.quantiles(numbers, n=4, method="inclusive")
    return Value(median, (upper - lower) / median, (min(numbers), max(numbers)))


def of(rounds, name):
    """The Value of one property of Figures."""
    return value(getattr(each, name) for each in rounds)


def json_of(found):
    """{(way, kind): [Figures]} for JSON."""
    return [
        {"way": way, "kind": kind, "rounds": [dataclasses.asdict(each) for each in rounds]}
        for (way, kind), rounds in found.items()
    ]


def cells_of(cells):
    """What `json_of` was made of."""
    return {
        (cell["way"], tuple(cell["kind"])): [Figures(**each) for each in cell["rounds"]]
        for cell in cells
    }


def whole(rounds):
    """The Figures of all rounds as one, for what is counted in ticks."""
    names = [field.name for field in dataclasses.fields(Figures)]
    return Figures(*(sum(getattr(each, name) for each in rounds) for name in names))


def ratio(rounds, others, name):
    """The Value of the ratios of a property, round by round: what slows a whole round changes no ratio."""
    return value(getattr(a, name) / max(getattr(b, name), 1e-12) for a, b in zip(rounds, others))

"""Whether two runs of a benchmark say the same: their ratios, within the spread that the page states."""

import dataclasses
import json

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.bench_servers import CannotMeasure
from ci.jobs.bench_nfs.figures import Figures, Value

# What of Figures is compared beside the speed, as a ratio of two ways in one run.
TIMES = ("cpu_us_per_call", "server_us_per_call")
DIFFERENT = 1  # exit status


@dataclasses.dataclass(frozen=True)
class Pair:
    """One ratio in two runs."""

    name: str
    first: Value
    second: Value

    @property
    def is_result(self):
        return max(self.first.spread, self.second.spread) <= figures.NO_RESULT

    @property
    def agrees(self):
        """Within what the mark states, or where the rounds of both runs meet. The lowest and the highest of six rounds
        bound the median with 97 % confidence. All are above it or all below it in 2 of 2**6 runs.
        """
        allowed = max(stated(self.first), stated(self.second))
        if abs(self.first.median - self.second.median) <= allowed * self.first.median:
            return True
        highest_of_lowest = max(self.first.range[0], self.second.range[0])
        return highest_of_lowest <= min(self.first.range[1], self.second.range[1])


def stated(value):
    """The spread that a page states by a mark, or by none."""
    return figures.MARKED if value.spread <= figures.MARKED else figures.NO_RESULT


def load(path):
    """{(row, way, kind): [Figures]} of the JSON that a run has written. Raises CannotMeasure."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {
            (row, str(cell["way"]), str(cell["kind"])): [Figures(**each) for each in cell["rounds"]]
            for row, cells in rows.items()
            for cell in cells
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CannotMeasure(f"{path} is no file of figures that a run has left") from None


def speed_of(rounds):
    """What says how fast these Figures are: octets a second, or calls where they have no octets."""
    return "rate" if all(each.bytes for each in rounds) else "calls_per_s"


def pairs(first, second):
    """A Pair for each ratio that both runs have: of a way to the one of its kind that comes first."""
    base = {}
    for cell in first:
        if cell not in second:
            continue
        row, way, kind = cell
        other = base.setdefault((row, kind), cell)
        if other == cell:
            continue
        for name in (speed_of(first[cell]), *TIMES):
            values = [figures.ratio(run[cell], run[other], name) for run in (first, second)]
            if all(value.median for value in values):
                yield Pair(f"{row}, {kind}, {way} to {other[1]}, {name}", *values)


def lines_of(found):
    """The lines about Pairs."""
    found = list(found)
    results = [pair for pair in found if pair.is_result]
    others = [pair for pair in results if not pair.agrees]
    yield f"{len(results) - len(others)} of {len(results)} ratios of the two runs agree within the spread that the pages state"
    if len(results) < len(found):
        yield f"{len(found) - len(results)} more are no result in one of them"
    for pair in others:
        yield f"differs: {pair.name}: {pair.first.text(2)}, now {pair.second.text(2)}"


def compare(earlier, now):
    """Prints how two runs compare, as `load` gives them; the exit status."""
    found = list(pairs(earlier, now))
    for line in lines_of(found):
        print(line)
    return DIFFERENT if any(pair.is_result and not pair.agrees for pair in found) else 0

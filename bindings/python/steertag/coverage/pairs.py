"""Which pairs the cases named `ROLE.combination.MESSAGE.ENVIRONMENT` have: a kind of message with a value of its
environment, and two values with each other. Of a run, the environment is the one that the case met."""

import dataclasses
import itertools

from ..suite.cases.environments import AXES, Environment

TOPIC = "combination"
# Verdicts of cases that asserted nothing.
_IDLE = ("not-testable", "unsupported", "harness-error")
# What False and True of a flag mean.
_WORDS = {
    "invalidates": ("R clear", "R set"),
    "crc_off": ("CRC", "no CRC"),
    "reconnected": ("first", "reconnected"),
    "crowded": ("alone", "crowded"),
}


@dataclasses.dataclass(frozen=True)
class MessagePairs:
    """The environments that one kind of message meets."""

    message: str  # "server null"
    environments: frozenset

    def count(self, axis, value):
        """How many of its cases have this value."""
        return sum(getattr(each, axis) == value for each in self.environments)

    @property
    def pairs(self):
        """{((axis, value), (axis, value))} of two values that a case has together."""
        return set().union(*map(pairs_of, self.environments))


def pairs_of(environment):
    """The pairs of two values in one environment."""
    values = [(axis, getattr(environment, axis)) for axis in AXES]
    return set(itertools.combinations(values, 2))


def wanted_pairs():
    """[((axis, value), (axis, value))] of all values of two axes, in order."""
    for axes in itertools.combinations(AXES, 2):
        for values in itertools.product(*map(AXES.get, axes)):
            yield tuple(zip(axes, values))


def message_pairs(case_ids, verdicts, met=None):
    """[MessagePairs] in order of the ids. With `verdicts`, {id: verdict} of a run, only of cases that asserted something
    there, and in the environments `met`, {id: text}."""
    environments = {}
    for case_id in case_ids:
        role, topic, *rest = case_id.split(".")
        if topic != TOPIC:
            continue
        message, environment = rest
        own = environments.setdefault(f"{role} {message}", set())
        if not verdicts or verdicts.get(case_id, _IDLE[0]) not in _IDLE:
            own.add(Environment.of((met or {}).get(case_id, environment)))
    return [MessagePairs(message, frozenset(own)) for message, own in environments.items()]


def pair_lines(rows):
    """The table, and below it how many pairs of two values the kinds of messages have."""
    columns = [(axis, value) for axis, values in AXES.items() for value in values]
    width = max((len(row.message) for row in rows), default=0)
    heads = [_head(axis, value) for axis, value in columns]
    yield "  ".join([" " * width, *heads])
    for row in rows:
        counts = [row.count(*column) for column in columns]
        cells = [f"{count or '-':>{len(head)}}" for count, head in zip(counts, heads)]
        yield "  ".join([row.message.ljust(width), *cells])
    wanted = set(wanted_pairs())
    found = sum(len(row.pairs & wanted) for row in rows)
    yield ""
    yield f"{found} of {len(wanted) * len(rows)} pairs: {len(wanted)} of two values for each of {len(rows)} messages"


def missing_lines(rows):
    """A line for each pair of two values that a kind of message lacks; none if all have all."""
    if not rows:
        yield f"missing: there is no case named ROLE.{TOPIC}.MESSAGE.ENVIRONMENT"
    for pair in wanted_pairs():
        lacking = [row.message for row in rows if pair not in row.pairs]
        if lacking:
            both = " with ".join(_head(*value) for value in pair)
            yield f"missing: {both}: {'all messages' if len(lacking) == len(rows) else ', '.join(lacking)}"


def _head(axis, value):
    return _WORDS[axis][value] if axis in _WORDS else f"{axis} {value}"

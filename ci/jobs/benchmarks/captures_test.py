"""How many rounds the benchmark of captures takes, and what it makes of them."""

import pytest

from ci.jobs.benchmarks import captures
from ci.jobs.benchmarks.captures import Used


def run(rounds, kept):
    """(pairs, the order in which the two commands ran)."""
    order = []

    def command(name, seconds):
        order.append(name)
        return Used(seconds, 0)

    pairs = captures.by_turns(rounds, lambda: command("a", 2), lambda: command("b", 1), kept)
    return pairs, "".join(order)


def test_a_few_rounds_are_enough_if_the_bound_is_kept():
    pairs, order = run((2, 4), lambda _: True)
    assert len(pairs) == 2 and order == "abba"


def test_all_rounds_decide_if_it_is_not():
    pairs, order = run((2, 4), lambda _: False)
    assert len(pairs) == 4 and order == "abbaabba"
    assert all((first.seconds, second.seconds) == (2, 1) for first, second in pairs)


@pytest.mark.parametrize(
    "with_plugin, cost",
    [
        ((1.1, 1.1, 1.1), 0.1),
        ((1.1, 1.9, 1.9), 0.1),  # the least times
        ((1.9, 1.1, 1.1), 0.1),
        ((1.5, 1.5, 1.5), 0.5),
    ],
)
def test_the_plugin_costs_what_least_times_and_medians_both_show(with_plugin, cost):
    pairs = [(Used(seconds, 0), Used(1, 0)) for seconds in with_plugin]
    assert captures.plugin_cost(pairs) == pytest.approx(cost)

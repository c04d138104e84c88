"""Tests of what is read of the traffic control's counters, and of a network that had no faults."""

import json

import pytest

from lab.failure import LabFailure
from lab.netem import counters
from lab.netem.counters import Counters


def filters(packets):
    """What `tc -s -j filter show` prints of one filter: a line for its chain comes first."""
    action = {"order": 1, "kind": "mirred", "stats": {"bytes": 9, "packets": packets, "drops": 0}}
    head = {"protocol": "all", "pref": 49152, "kind": "matchall", "chain": 0}
    return json.dumps([head, {**head, "options": {"handle": 1, "actions": [action]}}])


def disciplines(**counts):
    """What `tc -s -j qdisc show` prints of a device that also has filters."""
    none = {"packets": 0, "drops": 0, "requeues": 0, "qlen": 0}
    netem = {"kind": "netem", "root": True, **none, **counts}
    return json.dumps([netem, {"kind": "clsact", **none, "packets": 77, "drops": 7}])


def test_copies_are_what_leaves_beside_what_entered():
    read = Counters.parse(filters(100), disciplines(packets=98, drops=4, requeues=6, qlen=1))
    assert read == Counters(entered=100, dropped=4, doubled=3, reordered=6)
    assert read.text() == "100 packets, 4 dropped, 3 doubled, 6 reordered"
    assert read.complete()


@pytest.mark.parametrize("lacking", ["dropped", "doubled", "reordered"])
def test_one_fault_that_never_occurred_is_too_few(lacking):
    counts = {"entered": 100, "dropped": 1, "doubled": 1, "reordered": 1}
    assert not Counters(**{**counts, lacking: 0}).complete()


@pytest.mark.parametrize(
    "filter_text, discipline_text",
    [
        ("", disciplines()),
        (filters(1), "[]"),
        (filters(1), json.dumps([{"kind": "netem"}])),
        ("[1]", disciplines()),
    ],
    ids=["nothing", "no netem", "no counts", "no filter"],
)
def test_other_words_of_tc_are_a_failure_of_the_lab(filter_text, discipline_text):
    with pytest.raises(LabFailure, match="the counters of tc cannot be read"):
        Counters.parse(filter_text, discipline_text)


def test_a_run_without_faults_shows_nothing(capsys):
    def do(line):
        faulty = "in-eth0" not in line
        if "filter" in line:
            return [filters(100)]
        return [disciplines(packets=101, drops=1, requeues=2)] if faulty else [disciplines()]

    assert counters.judged(do, "it", (counters.OUT,))
    assert not counters.judged(do, "it", (counters.OUT, counters.IN))
    assert capsys.readouterr().out.splitlines()[-1].endswith(": not every fault occurred")


def test_each_way_asks_for_its_own_devices():
    asked = []

    def do(line):
        asked.append(line)
        return [filters(1)] if "filter" in line else [disciplines(packets=1)]

    counters.read(do, counters.IN)
    assert [line.split("show ")[1] for line in asked] == ["dev eth0 ingress", "dev in-eth0"]

"""Ratios of two runs agree within what the pages state of their spread."""

import dataclasses
import json

import pytest

from ci.jobs.bench_nfs import two_runs
from ci.jobs.bench_nfs.bench_servers import CannotMeasure
from ci.jobs.bench_nfs.figures import Figures

BASE = Figures(10**9, 1000, 1.0, 0.2, 0.1, 0.1)


def rounds(*scales):
    """One of each rate."""
    return [dataclasses.replace(BASE, bytes=int(10**9 * scale)) for scale in scales]


def run(*scales):
    """Two ways. The second has these rates."""
    base = rounds(*[1] * len(scales))
    return {("C1", "TCP", "[1]"): base, ("C1", "iWARP", "[1]"): rounds(*scales)}


def rates(first, second):
    """The Pair of the rates."""
    [found] = [pair for pair in two_runs.pairs(first, second) if pair.name.endswith(", rate")]
    return found


def compare(earlier, now):
    return two_runs.compare(two_runs.load(earlier), two_runs.load(now))


def test_ratios_without_a_mark_agree_within_a_tenth():
    assert rates(run(1, 1, 1), run(1.08, 1.08, 1.08)).agrees
    assert not rates(run(1, 1, 1), run(1.2, 1.2, 1.2)).agrees


def test_marked_ratios_may_differ_more():
    assert rates(run(0.85, 1, 1.15), run(1.2, 1.2, 1.2)).agrees
    assert not rates(run(0.85, 1, 1.15), run(1.6, 1.6, 1.6)).agrees


def test_ratios_agree_where_the_rounds_of_both_runs_meet():
    """The machine stopped one of five rounds: neither the median nor the spread shows it."""
    assert rates(run(1, 1, 1, 1, 1.5), run(1.4, 1.4, 1.4, 1.4, 1.4)).agrees
    assert rates(run(1.4, 1.4, 1.4, 1.4, 1.4), run(1, 1, 1, 1, 1.5)).agrees
    assert rates(run(1, 1, 1, 1, 1.5), run(1.3, 1.6, 1.6, 1.6, 1.6)).agrees
    assert not rates(run(1, 1, 1, 1, 1.5), run(1.6, 1.6, 1.6, 1.6, 1.6)).agrees


def test_the_speed_counts_once():
    assert [pair.name.rpartition(", ")[2] for pair in two_runs.pairs(run(1), run(1))] == [
        *("rate", "cpu_us_per_call", "server_us_per_call")
    ]
    no_octets = {cell: [dataclasses.replace(BASE, bytes=0)] for cell in run(1)}
    assert next(two_runs.pairs(no_octets, no_octets)).name.endswith(", calls_per_s")


def test_what_is_no_result_is_not_compared():
    pair = rates(run(0.5, 1, 1.5), run(9, 9, 9))
    assert not pair.is_result
    lines = list(two_runs.lines_of([pair]))
    assert lines[0].startswith("0 of 0 ratios")
    assert lines[1] == "1 more are no result in one of them"


def test_a_row_that_one_run_lacks_is_left_out():
    assert not list(two_runs.pairs(run(1, 1, 1), {}))


def test_the_command_names_what_differs_and_fails(tmp_path, capsys):
    paths = []
    for name, scale in (("a", 1), ("b", 1.05), ("c", 2)):
        cells = [
            {"way": way, "kind": [1], "rounds": [dataclasses.asdict(each) for each in found]}
            for way, found in (("TCP", rounds(1, 1)), ("iWARP", rounds(scale, scale)))
        ]
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps({"C1": cells}), encoding="utf-8")
    assert compare(paths[0], paths[1]) == 0
    assert "3 of 3 ratios" in capsys.readouterr().out
    assert compare(paths[0], paths[2]) == two_runs.DIFFERENT
    assert "differs: C1, [1], iWARP to TCP, rate: 1.00, now 2.00" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "[]", '{"C1": [{}]}', '{"C1": 5}'])
def test_other_files_are_refused_with_one_sentence(tmp_path, text):
    path = tmp_path / "figures.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CannotMeasure, match="is no file of figures"):
        two_runs.load(path)

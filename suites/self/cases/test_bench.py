"""The bench of a case whose server is not the usual one."""

import types

import pytest

from steertag.suite.cases.bench import Bench, Target
from steertag.suite.cases.case_end import HarnessError

USUAL = types.SimpleNamespace(url="iwarp://127.0.0.1:1")
OTHER = types.SimpleNamespace(url="iwarp://127.0.0.1:2")


class Administrator:
    """Notes what it was asked for."""

    def __init__(self):
        self.asked = []

    def act(self, what):
        self.asked.append(what)


def bench_of(administrator, served_by):
    """A bench at the usual server. `serve_with` gives it `served_by`."""
    target = Target(url=USUAL.url, bundled=True, profile=None)
    run = types.SimpleNamespace(recorder=types.SimpleNamespace(gap=""))
    return Bench(target, USUAL, run, None, None, administrator, lambda arguments: served_by)


def test_the_administrator_is_not_asked_about_another_server():
    administrator = Administrator()
    bench = bench_of(administrator, OTHER)
    bench.serve_with("--no-crc")
    with pytest.raises(HarnessError, match="recall-layouts would reach the usual server"):
        bench.administer("recall-layouts")
    assert not administrator.asked


def test_the_administrator_is_asked_where_the_usual_server_has_the_arguments():
    administrator = Administrator()
    bench = bench_of(administrator, USUAL)
    bench.serve_with("--no-crc")
    bench.administer("recall-layouts")
    assert administrator.asked == ["recall-layouts"]

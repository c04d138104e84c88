"""Each host has a link of its own, limited at both ends, and the client's has the rate of all data servers."""

import contextlib
import itertools

import pytest

from ci.jobs.bench_pnfs import shaped_hosts
from ci.jobs.bench_pnfs.shaped_hosts import ShapedHosts

DATA_SERVERS, RATE_MBIT = 3, 100


@pytest.fixture
def commands(monkeypatch):
    pids = itertools.count(1000)  # the bridge's, the metadata server's, the data servers'
    made = []
    monkeypatch.setattr(shaped_hosts, "namespace", lambda: contextlib.nullcontext(next(pids)))
    monkeypatch.setattr(shaped_hosts, "run", lambda *words: made.append(list(map(str, words))))
    return made


def rates(commands):
    """{(namespace, link): rate} of tbf; this namespace has no name."""
    return {
        (each[1] if each[0] == "nsenter" else "", each[each.index("dev") + 1]): each[
            each.index("rate") + 1
        ]
        for each in commands
        if "tbf" in each
    }


def test_each_link_is_limited_at_both_ends(commands):
    with contextlib.ExitStack() as stack:
        hosts = ShapedHosts(stack, RATE_MBIT, DATA_SERVERS)
    bridge, link = "--target=1000", shaped_hosts.LINK
    servers = range(1 + DATA_SERVERS)
    assert rates(commands) == {
        ("", link): "300mbit",
        (bridge, "port1"): "300mbit",
        **{(f"--target={1001 + each}", link): "100mbit" for each in servers},
        **{(bridge, f"port{2 + each}"): "100mbit" for each in servers},
    }
    assert hosts.metadata_server.place.address == "10.0.0.2"
    addresses = [host.place.address for host in hosts.data_servers]
    assert addresses == ["10.0.0.3", "10.0.0.4", "10.0.0.5"]


def test_the_client_s_link_goes_with_the_row(commands):
    with contextlib.ExitStack() as stack:
        ShapedHosts(stack, RATE_MBIT, DATA_SERVERS)
        commands.clear()
    assert commands == [["ip", "link", "delete", shaped_hosts.LINK]]


def test_a_host_leaves_the_bridge_and_comes_back(commands):
    with contextlib.ExitStack() as stack:
        hosts = ShapedHosts(stack, RATE_MBIT, DATA_SERVERS)
        commands.clear()
        hosts.data_servers[-1].vanish()
        hosts.data_servers[-1].restore()
        port = ["nsenter", "--target=1000", "--net", "ip", "link", "set", "port5"]
        assert commands == [[*port, "nomaster"], [*port, "master", shaped_hosts.BRIDGE]]

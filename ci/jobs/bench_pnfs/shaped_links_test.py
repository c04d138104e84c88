"""Each port of the servers has a class and a filter of its own, at both ends of the pair."""

from ci.jobs.bench_nfs.bench_servers import Place
from ci.jobs.bench_pnfs import shaped_links
from ci.jobs.bench_pnfs.shaped_links import ShapedLinks


def test_a_port_has_a_link_in_both_directions(monkeypatch):
    commands = []
    monkeypatch.setattr(shaped_links, "run", lambda *words: commands.append(list(map(str, words))))
    links = ShapedLinks(Place("10.0.0.2", ("nsenter", "--net")), "stripes", 100)
    links.add(20049)
    commands.clear()
    links.add(20050)
    here, there = (
        [each for each in commands if (each[0] == "nsenter") == entered] for entered in (0, 1)
    )
    for (shape, choose), field in ((here, "dport"), (there, "sport")):
        assert shape[shape.index("classid") + 1] == choose[choose.index("flowid") + 1] == "1:2"
        assert shape[shape.index("rate") + 1] == "100mbit"
        assert choose[choose.index(field) + 1] == "20050"

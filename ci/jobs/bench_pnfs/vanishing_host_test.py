"""The link of the host alone goes down and up, at the host's end."""

import contextlib

from ci.jobs.bench_nfs.bench_servers import Place
from ci.jobs.bench_pnfs import shaped_links, vanishing_host
from ci.jobs.bench_pnfs.vanishing_host import NAME, VanishingHost

PID = 4321
ENTER = ("nsenter", f"--target={PID}", "--net")


def test_a_host_vanishes_and_comes_back(monkeypatch):
    commands = []
    monkeypatch.setattr(vanishing_host, "namespace", lambda: contextlib.nullcontext(PID))
    monkeypatch.setattr(
        vanishing_host, "join", lambda pid, name, number: Place(f"10.0.{number}.2", ENTER)
    )
    monkeypatch.setattr(shaped_links, "run", lambda *words: None)
    monkeypatch.setattr(vanishing_host, "run", lambda *words: commands.append(words))
    with contextlib.ExitStack() as stack:
        host = VanishingHost(stack, 100)
        assert host.place.address == "10.0.1.2"
        host.kill()
        host.restore()
    link = (*ENTER, "ip", "link", "set", NAME)
    assert commands == [(*link, "down"), (*link, "up")]

"""Sessions of NFSv4.1 have no more slots than their connection has credits, or as --slots says; with data servers too."""

import subprocess

import pytest

from steertag import peer
from steertag.build_paths import tool

CREDITS = 5
ASKED = 20  # slots, with as many credits
DEADLINE_S = 20
SERVERS = 2


def slots(listen, *options):
    """{slots of the sessions with the metadata server, and with each data server}."""
    where = [word for url in listen for word in ("--listen", url)]
    command = [tool("steertag-serve"), *where, "--credits", str(CREDITS), "--pnfs", str(SERVERS)]
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        lines = [server.stdout.readline() for _ in range(len(listen) * (1 + SERVERS))]
        files = peer.Files(lines[0].split()[-1], version=4, credits=ASKED, slots=ASKED)
        made = files.new_bench(files.find("/export"), "file", 1 << 20)
        made.fill()
        made.close()
        known = files.pnfs
        each = [known["slots"], *(one["slots"] for one in known["data_servers"])]
        assert len(each) == 1 + SERVERS, "a data server was not used"
        files.end()
        return set(each)
    finally:
        server.kill()
        server.communicate(timeout=DEADLINE_S)


@pytest.mark.parametrize("provider", ["iwarp", "roce"])
@pytest.mark.parametrize("options", [(), ("--shared-receives", "4")], ids=["own", "shared"])
def test_a_session_has_the_slots_that_credits_let_be_used(provider, options):
    assert slots([f"{provider}://127.0.0.1:0"], *options) == {CREDITS}


def test_beside_tcp_there_is_a_slot_more():
    """RFC 8881 2.10.3.1: for a request over TCP when all credits are used up."""
    assert slots(["iwarp://127.0.0.1:0", "tcp://127.0.0.1:0"]) == {CREDITS + 1}


@pytest.mark.parametrize("provider", ["iwarp", "roce", "tcp"])
@pytest.mark.parametrize("most", [3, ASKED])
def test_the_options_may_say_how_many(provider, most):
    """Fewer than credits, or more: then the client's calls wait for credits."""
    assert slots([f"{provider}://127.0.0.1:0"], "--slots", str(most)) == {most}


def test_over_tcp_there_are_no_credits():
    assert slots(["tcp://127.0.0.1:0"]) == {ASKED}

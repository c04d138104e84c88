"""Listening sockets that steertag-serve gets from a service manager."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys

import pytest

from steertag import nfs, peer, rpc
from steertag.build_paths import tool

# Everything here ends at once or has failed.
DEADLINE_S = 20
FIRST_DESCRIPTOR = 3  # SD_LISTEN_FDS_START
# Does what a service manager does: sockets from descriptor 3 on, and LISTEN_PID of what it starts.
LAUNCHER = """
import fcntl, os, sys
sockets, program = sys.argv[1].split(), sys.argv[2:]
ABOVE_ALL = 100
moved = [fcntl.fcntl(int(each), fcntl.F_DUPFD, ABOVE_ALL) for each in sockets]
for number, each in enumerate(moved, 3):
    os.dup2(each, number, inheritable=True)
    os.close(each)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(moved)))
os.execv(program[0], program)
"""


def launch(sockets, *arguments):
    """A server with these sockets from descriptor 3 on."""
    numbers = [each.fileno() for each in sockets]
    return subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, " ".join(map(str, numbers)), tool("steertag-serve")]
        + list(arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=numbers,
    )


@contextlib.contextmanager
def ended(server):
    try:
        yield server
    finally:
        server.kill()
        server.communicate(timeout=DEADLINE_S)


def listener():
    return socket.create_server(("127.0.0.1", 0))


def url_of(provider, made):
    return f"{provider}://127.0.0.1:{made.getsockname()[1]}"


def answers(url):
    client = peer.Client(f"{url}/export")
    client.call(nfs.nfs3.encode_call("NULL", None, xid=1, credential=rpc.auth_sys()))


def test_it_serves_on_the_sockets_that_it_got():
    with listener() as rdma, listener() as tcp:
        urls = [url_of("iwarp", rdma), url_of("tcp", tcp)]
        # In the other order: addresses decide.
        server = launch([tcp, rdma], "--listen", urls[0], "--listen", urls[1])
    with ended(server):
        for url in urls:
            assert server.stdout.readline() == f"listening at {url}\n", "it did not take them over"
        answers(urls[0])


def test_it_serves_on_a_socket_of_any_address():
    with socket.create_server(("", 0)) as made:
        url = url_of("iwarp", made)
        server = launch([made], "--listen", url)
    with ended(server):
        assert server.stdout.readline() == f"listening at {url}\n"
        answers(url)


def refusal(server):
    errors = server.communicate(timeout=DEADLINE_S)[1]
    assert server.returncode == 1
    assert errors.count("\n") == 1, errors
    return errors


def test_a_socket_that_no_url_names_is_refused():
    with listener() as made:
        where = "{}:{}".format(*made.getsockname())
        server = launch([made], "--listen", "iwarp://127.0.0.1:0")
    assert f"no --listen URL of iwarp or tcp names {where}" in refusal(server)


def test_a_socket_that_does_not_listen_is_refused():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("127.0.0.1", 0))
        server = launch([made], "--listen", url_of("iwarp", made))
    assert f"descriptor {FIRST_DESCRIPTOR} does not listen for TCP" in refusal(server)


def test_sockets_of_another_process_are_left_alone():
    with listener() as made:
        environment = dict(os.environ, LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
        server = subprocess.Popen(
            [tool("steertag-serve"), "--listen", url_of("iwarp", made)],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert "cannot be listened on" in refusal(server)


@pytest.mark.skipif(not shutil.which("systemd-socket-activate"), reason="needs systemd")
def test_systemd_starts_it_at_the_first_connection():
    with listener() as made:
        url = url_of("iwarp", made)
    port = url.rpartition(":")[2]
    activator = subprocess.Popen(
        ["systemd-socket-activate", "--listen", f"127.0.0.1:{port}"]
        + [tool("steertag-serve"), "--listen", url],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with ended(activator):
        assert re.search("Listening on", activator.stderr.readline())
        answers(url)
        assert activator.stdout.readline() == f"listening at {url}\n"

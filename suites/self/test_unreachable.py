"""Targets that cannot be tested: pytest ends soon, with one sentence and a usage-like exit code."""

import socket
import threading

import pytest

CASE = """
    from steertag.suite import case, expect

    @case("self.null-{number}", requirements=["RFC8166-4.2.4-1"])
    @__import__("pytest").mark.parametrize("number", range(3))
    def test_null(bench, number):
        bench.connect()
"""


@pytest.fixture
def listener():
    """A TCP socket that takes connections and says what the test wants."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture(params=["iwarp", "tcp"])
def unreachable(request, suite):
    """Runs the suite against a port by either transport; gives what it says."""

    def run(port, *arguments):
        suite.cases(test_null=CASE)
        url = f"{request.param}://127.0.0.1:{port}/"
        result = suite.run("--target", url, *arguments)
        text = result.stdout.str() + result.stderr.str()
        assert result.ret == pytest.ExitCode.USAGE_ERROR, text
        assert "Traceback" not in text
        assert text.count(f"target {url}") == 1, text
        return text

    return run


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_nothing_listens(unreachable, listener, arguments):
    port = listener.getsockname()[1]
    listener.close()
    assert "refused" in unreachable(port, *arguments)


def test_a_listener_that_says_nothing(unreachable, listener):
    unreachable(listener.getsockname()[1])


def test_a_listener_that_speaks_http(unreachable, listener):
    def serve():
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        with peer:
            peer.recv(4096)
            peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    thread = threading.Thread(target=serve)
    thread.start()
    unreachable(listener.getsockname()[1])
    thread.join()

"""Targets that cannot be tested: pytest ends soon, with one sentence and a usage-like exit code; and such as a
single case cannot reach."""

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


def test_files_that_cannot_be_made_end_the_case(suite):
    suite.cases(
        test_nobody="""
        import contextlib, socket
        from steertag.suite import case

        @contextlib.contextmanager
        def elsewhere(link, listening):
            kept = link.url
            with socket.socket() as place:
                place.bind(("127.0.0.1", 0))
                if listening:
                    place.listen()
                link.url = f"iwarp://127.0.0.1:{place.getsockname()[1]}"
                link.connect_ms = 200
                try:
                    yield
                finally:
                    link.url, link.connect_ms = kept, type(link).connect_ms

        @case("self.refused", requirements=["RFC8166-4.5.1-1"])
        def test_refused(bench):
            with elsewhere(bench._link, listening=False):
                bench.file(b"")

        @case("self.silent", requirements=["RFC8166-4.5.1-1"])
        def test_silent(bench):
            with elsewhere(bench._link, listening=True):
                bench.file(b"")
        """
    )
    suite.run()
    found = {row["id"]: (row["verdict"], row["reason"]) for row in suite.document()["cases"]}
    reason = "preparing the case: a connection gave"
    assert found == {
        "self.refused": ("fail", f"RFC8166-3.3.3-1: {reason} disconnect"),
        "self.silent": ("hang", f"{reason} hang"),
    }

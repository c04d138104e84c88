"""The reference server as a program: its command line, its end, and its limits."""

import resource
import signal
import socket
import subprocess

import pytest

from steertag.build_paths import tool

LISTEN = ("--listen", "iwarp://127.0.0.1:0")
# Everything here ends at once or has failed.
DEADLINE_S = 20


def run(*arguments, **options):
    return subprocess.run(
        [tool("steertag-serve"), *arguments],
        stderr=subprocess.PIPE,
        text=True,
        timeout=DEADLINE_S,
        **options,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--idle-timeout", "nan"),
        ("--idle-timeout", "-1"),
        ("--idle-timeout", "1e9"),
        ("--credits", "0"),
        ("--credits", "1025"),
        ("--inline-bytes", "1025"),
        ("--inline-bytes", "263168"),
        ("--credits", "1024", "--inline-bytes", "262144"),
        ("--port-file", ""),
        ("--listen", "iwarp://127.0.0.1:0/trailing/x"),
        ("--listen", "iwarp://127.0.0.1:0", "--portmap", "1"),
    ],
)
def test_impossible_options_are_refused_in_one_sentence(arguments):
    ended = run(*LISTEN, *arguments) if "--listen" not in arguments else run(*arguments)
    assert ended.returncode == 2
    assert ended.stderr.startswith("steertag-serve: ")
    assert ended.stderr.count("\n") == 1


def test_lost_output_is_an_error():
    with open("/dev/full", "w") as full:
        assert run("--list-deviations", stdout=full).returncode == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [("no-such-folder/port", "No such file or directory"), ("folder", "Is a directory")],
)
def test_a_bad_port_file_ends_it_before_anything_listens(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    path, key = tmp_path / name, tmp_path / "key"
    export = ("--export", tmp_path / "folder", "--handle-key", key)
    ended = run(*LISTEN, *export, "--port-file", path, stdout=subprocess.PIPE)
    assert ended.returncode == 1
    assert ended.stdout == ""
    told = f"steertag-serve: the port file {path} cannot be written: {reason}\n"
    assert ended.stderr.endswith(told)
    assert not key.exists(), "the port file was not tried first"
    left = sorted(each.name for each in tmp_path.iterdir())
    assert left == ["folder"], "the try left a file"


def test_a_port_file_of_an_earlier_server_is_replaced(tmp_path):
    port_file = tmp_path / "port"
    port_file.write_text("1\n")
    server = subprocess.Popen(
        [tool("steertag-serve"), *LISTEN, "--port-file", port_file],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = server.stdout.readline()  # which comes when the file is written
        assert line == f"listening at iwarp://127.0.0.1:{int(port_file.read_text())}\n"
        assert [each.name for each in tmp_path.iterdir()] == ["port"]
    finally:
        server.kill()
        server.communicate(timeout=DEADLINE_S)


@pytest.fixture
def started(tmp_path):
    """Starts a server whose soft limit of files is low, and waits until it listens."""
    port_file = tmp_path / "port"
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    server = subprocess.Popen(
        [tool("steertag-serve"), *LISTEN, "--port-file", port_file],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard)),
    )
    while not port_file.exists():
        assert server.poll() is None
    yield server
    server.kill()
    server.wait(DEADLINE_S)


def test_soft_limit_of_files_is_raised(started):
    soft, hard = resource.prlimit(started.pid, resource.RLIMIT_NOFILE)
    assert soft == hard


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_well(started, number):
    started.send_signal(number)
    assert started.wait(DEADLINE_S) == 0


def read_ports(server, port_file):
    while not port_file.exists():
        assert server.poll() is None
    return [int(line) for line in port_file.read_text().splitlines()]


def test_every_listener_has_a_line_and_a_port(tmp_path):
    urls = ("--listen", "iwarp://127.0.0.1:0", "--listen", "tcp://127.0.0.1:0", "--portmap", "0")
    server = subprocess.Popen(
        [tool("steertag-serve"), *urls, "--port-file", tmp_path / "ports"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        ports = read_ports(server, tmp_path / "ports")
        for name, port in zip(["iwarp", "tcp", "tcp"], ports, strict=True):
            assert server.stdout.readline() == f"listening at {name}://127.0.0.1:{port}\n"
    finally:
        server.kill()
        server.communicate(timeout=DEADLINE_S)


def test_a_second_listener_that_fails_ends_it_in_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        ended = run(*LISTEN, "--listen", url, stdout=subprocess.PIPE)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.splitlines()[-1].startswith("steertag-serve: the address cannot be listen")


def test_garbage_is_reported_in_a_limited_number_of_lines(tmp_path):
    server = subprocess.Popen(
        [tool("steertag-serve"), "--listen", "tcp://127.0.0.1:0"]
        + ["--port-file", tmp_path / "ports"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        (port,) = read_ports(server, tmp_path / "ports")
        for _ in range(30):
            with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as stream:
                stream.sendall(b"GET / HTTP/1.1\r\n\r\n")
                stream.settimeout(DEADLINE_S)
                try:
                    assert stream.recv(1) == b""
                except ConnectionResetError:
                    pass
    finally:
        server.terminate()
        errors = server.communicate(timeout=DEADLINE_S)[1]
    assert len([line for line in errors.splitlines() if "record marking" in line]) == 20

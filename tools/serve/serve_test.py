"""The reference server as a program: its command line, its end, and its limits."""

import os
import resource
import signal
import socket
import stat
import subprocess

import pytest

from steertag import peer
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
        ("--slots", "0"),
        ("--slots", "1025"),
        ("--shared-receives", "0"),
        ("--shared-receives", "16385"),
        ("--shared-receives", "1024", "--inline-bytes", "262144"),
        ("--inline-bytes", "1025"),
        ("--optimistic", "--direct-block", "5000"),
        ("--optimistic", "--direct-block", "2048"),
        ("--optimistic", "--direct-block", "131072"),
        ("--direct-block", "4096"),
        ("--recoverable-faults",),
        ("--inline-bytes", "263168"),
        ("--credits", "1024", "--inline-bytes", "262144"),
        ("--memory", "0"),
        ("--memory", "16777217"),
        ("--memory", "1", "--export", "."),
        ("--listen", "roce://127.0.0.1:0", "--no-crc"),
        ("--port-file", ""),
        ("--pnfs", "0"),
        ("--pnfs", "65"),
        ("--pnfs", "2", "--stripe-unit", "100"),
        ("--pnfs", "2", "--packing", "thin"),
        ("--stripe-unit", "4096"),
        ("--packing", "dense"),
        ("--commit", "mds"),
        ("--keep-layouts",),
        ("--both-roles",),
        ("--listen", "iwarp://127.0.0.1:0/trailing/x"),
        ("--listen", "iwarp://127.0.0.1:0", "--portmap", "1"),
    ],
)
def test_impossible_options_are_refused_in_one_sentence(arguments):
    ended = run(*LISTEN, *arguments) if "--listen" not in arguments else run(*arguments)
    assert ended.returncode == 2
    assert ended.stderr.startswith("steertag-serve: ")
    assert ended.stderr.count("\n") == 1


def test_a_server_with_data_servers_says_where_they_are_and_serves_files(tmp_path):
    """RFC 8881 12.2.5: the metadata server serves all files itself too."""
    server = subprocess.Popen(
        [tool("steertag-serve"), *LISTEN, "--pnfs", "2", "--packing", "dense"]
        + ["--port-file", tmp_path / "ports"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        (port,) = read_ports(server, tmp_path / "ports")
        lines = [server.stdout.readline() for _ in range(3)]
        assert lines[0] == f"listening at iwarp://127.0.0.1:{port}\n"
        for number, line in enumerate(lines[1:], 1):
            assert line.startswith(f"data server {number} at iwarp://127.0.0.1:")
        files = peer.Files(f"iwarp://127.0.0.1:{port}")
        files.new_bench(files.find("/export"), "file", 1 << 20).fill()
    finally:
        server.kill()
        server.communicate(timeout=DEADLINE_S)


def test_files_in_memory_take_what_the_option_allows(tmp_path):
    server = subprocess.Popen(
        [tool("steertag-serve"), "--listen", "tcp://127.0.0.1:0", "--memory", "2"]
        + ["--port-file", tmp_path / "ports"],
        stdout=subprocess.DEVNULL,
    )
    try:
        (port,) = read_ports(server, tmp_path / "ports")
        files = peer.Files(f"tcp://127.0.0.1:{port}")
        export = files.find("/export")
        files.new_bench(export, "two", 2 << 20).fill()
        files.remove(export, "two")
        files.new_bench(export, "again", 2 << 20).fill()
        with pytest.raises(peer.FileError) as refused:
            files.new_bench(export, "more", 4096).fill()
        assert refused.value.status == "NFS4ERR_NOSPC"
    finally:
        server.kill()
        server.communicate(timeout=DEADLINE_S)


def test_lost_output_is_an_error():
    with open("/dev/full", "w") as full:
        assert run("--list-deviations", stdout=full).returncode == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no-such-folder/port", "No such file or directory"),
        ("folder", "not a regular file"),
        ("fifo", "not a regular file"),
        ("socket", "not a regular file"),
        ("link-to-fifo", "not a regular file"),
        ("link-to-itself", "Too many levels of symbolic links"),
    ],
)
def test_a_bad_port_file_ends_it_before_anything_listens(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link-to-fifo").symlink_to("fifo")
    (tmp_path / "link-to-itself").symlink_to("link-to-itself")
    os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    before = {each.name: each.lstat() for each in tmp_path.iterdir()}
    path, key = tmp_path / name, tmp_path / "key"
    export = ("--export", tmp_path / "folder", "--handle-key", key)
    ended = run(*LISTEN, *export, "--port-file", path, stdout=subprocess.PIPE)
    assert ended.returncode == 1
    assert ended.stdout == ""
    told = f"steertag-serve: the port file {path} cannot be written: {reason}\n"
    assert ended.stderr.endswith(told)
    assert not key.exists(), "the port file was not tried first"
    after = {each.name: each.lstat() for each in tmp_path.iterdir()}
    assert after.keys() == before.keys(), "the try left a file, or took one away"
    for each, status in after.items():
        same = os.path.samestat(status, before[each])
        assert same and status.st_mode == before[each].st_mode, f"{each} was replaced"


@pytest.mark.parametrize("option", ["--handle-key", "--recovery"])
@pytest.mark.parametrize("name", ["kept", "folder/../kept", "link", "hard-link"])
def test_a_port_file_that_is_kept_is_refused_and_left_alone(tmp_path, option, name):
    (tmp_path / "folder").mkdir()
    kept = tmp_path / "kept"
    kept.write_text("before\n")
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "hard-link").hardlink_to(kept)
    assert_refused_as_kept(tmp_path, option, kept, f"{tmp_path}/{name}")
    assert kept.read_text() == "before\n"


@pytest.mark.parametrize("option", ["--handle-key", "--recovery"])
@pytest.mark.parametrize("path", ["kept", "folder/../kept"])
def test_a_port_file_that_would_be_kept_is_refused_before_it_is_made(tmp_path, option, path):
    (tmp_path / "folder").mkdir()
    assert_refused_as_kept(tmp_path, option, tmp_path / "kept", path)
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def assert_refused_as_kept(tmp_path, option, kept, path):
    export = ("--export", tmp_path / "folder", option, kept)
    ended = run(*LISTEN, *export, "--port-file", path, stdout=subprocess.PIPE, cwd=tmp_path)
    told = f"steertag-serve: the port file {path} cannot be written: {option} names the same file\n"
    assert ended.stderr.endswith(told)
    assert (ended.returncode, ended.stdout) == (1, "")


@pytest.mark.parametrize("is_link", [False, True])
def test_a_port_file_of_an_earlier_server_is_replaced(tmp_path, is_link):
    port_file = tmp_path / "port"
    earlier = tmp_path / "earlier" if is_link else port_file
    earlier.write_text("1\n")
    if is_link:
        port_file.symlink_to("earlier")
    before = set(tmp_path.iterdir())
    server = subprocess.Popen(
        [tool("steertag-serve"), *LISTEN, "--port-file", port_file],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = server.stdout.readline()  # which comes when the file is written
        assert line == f"listening at iwarp://127.0.0.1:{int(port_file.read_text())}\n"
        assert set(tmp_path.iterdir()) == before
        assert not port_file.is_symlink()
        assert not is_link or earlier.read_text() == "1\n", "the link was followed"
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

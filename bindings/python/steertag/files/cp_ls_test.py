"""`steertag cp` and `steertag ls` against the bundled server, over RDMA and TCP."""

import errno
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading

import pytest

from steertag import cli, peer
from steertag.files import place
from steertag.files.escape import printable

# Every command here ends at once, or the test fails.
DEADLINE_S = 60
# An interrupt ends a command long before a call's time-out of 60 s.
INTERRUPT_S = 20
# In the background of a script, tests and their commands ignore SIGINT; below nohup they ignore
# SIGHUP.
INTERRUPTIBLE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL);"
    "from steertag.cli import main; sys.exit(main())"
)


@pytest.fixture
def exported(tmp_path):
    """A directory that others may read."""
    directory = tmp_path / "exported"
    directory.mkdir()
    directory.chmod(0o755)
    return directory


def steertag(*arguments):
    return cli.main([str(each) for each in arguments])


def patterned(size):
    return bytes((index * 31 + index // 251) % 256 for index in range(size))


@pytest.mark.parametrize("size", [0, 1, 4097, 3_000_001])
def test_what_is_copied_there_comes_back(url, tmp_path, size):
    octets = patterned(size)
    (tmp_path / "here").write_bytes(octets)
    assert steertag("cp", tmp_path / "here", f"{url}/there") == 0
    assert steertag("cp", f"{url}/there", tmp_path / "back") == 0
    assert (tmp_path / "back").read_bytes() == octets
    assert sorted(os.listdir(tmp_path)) == ["back", "here"]


def test_each_size_of_calls_copies_the_same(url, tmp_path):
    octets = patterned(200_001)
    (tmp_path / "here").write_bytes(octets)
    options = ("--io-bytes", "4K", "--in-flight", "2", "--inline-bytes", "16K", "--chunk-from", "1")
    assert steertag("cp", *options, tmp_path / "here", f"{url}/there") == 0
    assert steertag("cp", *options, f"{url}/there", tmp_path / "back") == 0
    assert (tmp_path / "back").read_bytes() == octets


@pytest.mark.parametrize("mode", place.TRANSFER_MODES)
def test_each_transfer_mode_copies_the_same(server, tmp_path, mode):
    url = f"{server.listening[0]}/export"
    octets = patterned(200_001)
    (tmp_path / "here").write_bytes(octets)
    assert steertag("cp", "--transfer", mode, tmp_path / "here", f"{url}/there") == 0
    assert steertag("cp", "--transfer", mode, f"{url}/there", tmp_path / "back") == 0
    assert (tmp_path / "back").read_bytes() == octets


def test_one_transfer_mode_at_a_time(url, tmp_path, capsys):
    options = ("--optimistic", "--transfer", "cached")
    assert steertag("cp", *options, f"{url}/there", tmp_path / "back") != 0
    assert "--optimistic and --transfer cached: one of them" in capsys.readouterr().err


def test_recoverable_faults_are_those_of_optimistic_transfers(url, tmp_path, capsys):
    options = ("--recoverable-faults", "--transfer", "cached")
    assert steertag("cp", *options, f"{url}/there", tmp_path / "back") != 0
    assert "--recoverable-faults needs --transfer optimistic" in capsys.readouterr().err


def test_directories_take_the_name_of_the_source(url, tmp_path):
    (tmp_path / "name").write_bytes(b"octets")
    (tmp_path / "folder").mkdir()
    assert steertag("cp", tmp_path / "name", url) == 0
    assert steertag("cp", f"{url}/name", tmp_path / "folder") == 0
    assert (tmp_path / "folder" / "name").read_bytes() == b"octets"


def test_existing_files_are_replaced(url, tmp_path):
    for octets in (b"old and long", b"new"):
        (tmp_path / "here").write_bytes(octets)
        assert steertag("cp", tmp_path / "here", f"{url}/there") == 0
    (tmp_path / "back").write_bytes(b"something else")
    assert steertag("cp", f"{url}/there", tmp_path / "back") == 0
    assert (tmp_path / "back").read_bytes() == b"new"


@pytest.mark.parametrize("direction", ["there", "back"])
def test_permissions_are_those_of_the_source_without_the_umask(url, tmp_path, direction):
    (tmp_path / "here").write_bytes(b"octets")
    (tmp_path / "here").chmod(0o666)
    umask = os.umask(0o027 if direction == "there" else 0)
    try:
        assert steertag("cp", tmp_path / "here", f"{url}/there") == 0
        os.umask(0o027)
        assert steertag("cp", f"{url}/there", tmp_path / "back") == 0
    finally:
        os.umask(umask)
    there = peer.Files(url, uid=0).find("/export/there")
    assert there.mode == (0o640 if direction == "there" else 0o666)
    assert stat.S_IMODE(os.stat(tmp_path / "back").st_mode) == 0o640


def test_what_is_no_regular_file_is_not_replaced(url, tmp_path, capsys):
    """As root, a copy to /dev/null must not replace it by a file."""
    (tmp_path / "here").write_bytes(b"octets")
    assert steertag("cp", tmp_path / "here", f"{url}/there") == 0
    os.mkfifo(tmp_path / "fifo")
    assert steertag("cp", f"{url}/there", tmp_path / "fifo") == 2
    assert "fifo: this is no regular file" in capsys.readouterr().err
    assert stat.S_ISFIFO(os.stat(tmp_path / "fifo").st_mode)
    assert sorted(os.listdir(tmp_path)) == ["fifo", "here"]


def test_link_stays_a_link(url, tmp_path):
    (tmp_path / "here").write_bytes(b"octets")
    assert steertag("cp", tmp_path / "here", f"{url}/there") == 0
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    assert steertag("cp", f"{url}/there", tmp_path / "link") == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"octets"


def test_what_could_not_be_written_shows_at_the_latest_when_the_file_is_closed(
    url, tmp_path, capsys, monkeypatch
):
    (tmp_path / "here").write_bytes(b"octets")
    assert steertag("cp", tmp_path / "here", f"{url}/there") == 0
    close = os.close

    def close_over_quota(descriptor):
        copy = os.readlink(f"/proc/self/fd/{descriptor}").startswith(str(tmp_path))
        close(descriptor)
        if copy:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "close", close_over_quota)
    assert steertag("cp", f"{url}/there", tmp_path / "back") == 2
    assert "back: Disk quota exceeded" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["here"]


def test_longest_name_is_possible(url, tmp_path):
    name = "n" * 255
    (tmp_path / name).write_bytes(b"octets")
    assert steertag("cp", tmp_path / name, url) == 0
    (tmp_path / name).unlink()
    assert steertag("cp", f"{url}/{name}", tmp_path) == 0
    assert (tmp_path / name).read_bytes() == b"octets"


@pytest.mark.parametrize("sparse", ["auto", "always", "never"])
def test_holes_survive_or_not_but_data_do(url, tmp_path, sparse):
    size = 8 << 20
    with open(tmp_path / "here", "wb") as here:
        here.truncate(size)
        here.seek(1 << 20)
        here.write(b"data")
    assert steertag("cp", "--sparse", sparse, tmp_path / "here", f"{url}/there") == 0
    assert steertag("cp", "--sparse", sparse, f"{url}/there", tmp_path / "back") == 0
    assert (tmp_path / "back").read_bytes() == (tmp_path / "here").read_bytes()
    if sparse == "always":
        assert os.stat(tmp_path / "back").st_blocks * 512 < size // 4
    if sparse == "never":
        assert os.stat(tmp_path / "back").st_blocks * 512 >= size


def test_ls_prints_sorted_names_and_attributes(url, tmp_path, capsys):
    for name in ("b", "a"):
        (tmp_path / name).write_bytes(b"1234567")
        (tmp_path / name).chmod(0o640)
        assert steertag("cp", tmp_path / name, f"{url}/{name}") == 0
    assert steertag("ls", url) == 0
    assert capsys.readouterr().out == "a\nb\n"
    assert steertag("ls", "-l", f"{url}/b") == 0
    row = capsys.readouterr().out.split()
    assert row[0] == "-rw-r-----"
    assert row[4] == "7"
    assert row[-1].endswith("b")


@pytest.mark.parametrize("version", ["3", "4.1", "v3", "v4.1"])
def test_odd_names_are_escaped(url, tmp_path, capsys, version):
    name = b"\x1b[2J\n\\ \xff \xc3\xa4"
    (tmp_path / "here").write_bytes(b"")
    there = f"{url}/{os.fsdecode(name)}"
    by = f"--nfs={version}"
    assert steertag("cp", by, tmp_path / "here", there) == 0, capsys.readouterr().err
    assert steertag("ls", by, url) == 0
    assert capsys.readouterr().out == "\\x1b[2J\\x0a\\\\ \\xff ä\n"


def test_printable_leaves_text_alone():
    assert printable("plain-name.txt äß中") == "plain-name.txt äß中"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("cp", "{url}/none", "{tmp}/x"), "ERR_NOENT (2)"),
        (("cp", "{url}", "{tmp}/x"), "no regular file"),
        (("cp", "{tmp}/none", "{url}/x"), "No such file"),
        (("cp", "{tmp}", "{url}/x"), "no regular file"),
        (("cp", "{tmp}/a", "{tmp}/b"), "one of each"),
        (("cp", "{url}/a", "{tmp}/none/b"), "ERR_NOENT (2)"),
        (("ls", "{url}/none"), "ERR_NOENT (2)"),
        (("ls", "none://localhost/export"), "none"),
        (("ls", "tcp://127.0.0.1:1/export"), "refused"),
    ],
)
def test_errors_are_one_sentence(url, tmp_path, capsys, arguments, told):
    assert steertag(*(each.format(url=url, tmp=tmp_path) for each in arguments)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("steertag: ")
    assert output.err.count("\n") == 1
    assert told in output.err
    assert os.listdir(tmp_path) == []


def test_octets_of_a_name_survive_in_an_error(exported, capsys):
    name = os.fsdecode(b"\x1b\xff")
    (exported / name).symlink_to(name)
    with peer.Server(["tcp://127.0.0.1:0"], export=str(exported)) as server:
        assert steertag("ls", "--nfs=3", f"{server.listening[0]}/export/{name}") == 2
    output = capsys.readouterr()
    assert output.err.endswith('too many symbolic links lead on: "\\x1b\\xff"\n')
    assert output.err.count("\n") == 1


class Unwilling:
    """A client of files whose server refuses some calls."""

    def __init__(self, files, *refused):
        self._files = files
        self._refused = refused

    def __getattr__(self, name):
        if name in self._refused:
            return self._refuse
        return getattr(self._files, name)

    def _refuse(self, *_):
        raise peer.FileError("refused")


@pytest.fixture
def refuse(monkeypatch):
    connect = place.connect

    def refuse(*names):
        monkeypatch.setattr(
            place, "connect", lambda *given, **how: Unwilling(connect(*given, **how), *names)
        )

    return refuse


def test_what_is_done_is_done_however_the_client_leaves(url, tmp_path, capsys, refuse):
    refuse("end")
    (tmp_path / "here").write_bytes(b"octets")
    assert steertag("cp", tmp_path / "here", f"{url}/there") == 0
    assert steertag("cp", f"{url}/there", tmp_path / "back") == 0
    assert steertag("ls", url) == 0
    assert capsys.readouterr() == ("there\n", "")


def test_link_that_cannot_be_read_does_not_end_the_listing(exported, capsys, refuse):
    (exported / "link").symlink_to("where it leads")
    (exported / "next").write_bytes(b"")
    with peer.Server(["tcp://127.0.0.1:0"], export=str(exported)) as server:
        url = server.listening[0] + "/export"
        assert steertag("ls", "-l", url) == 0
        assert capsys.readouterr().out.splitlines()[0].endswith(" link -> where it leads")
        refuse("read_link")
        assert steertag("ls", "-l", url) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].endswith(" link -> ?")
    assert rows[1].endswith(" next")


def test_no_bar_without_a_terminal(url, tmp_path, capsys):
    (tmp_path / "here").write_bytes(b"octets")
    assert steertag("cp", tmp_path / "here", f"{url}/there") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt_leaves_nothing_behind(tmp_path, number):
    """A copy of eight gibibytes runs long enough to be seen running. A server's memory does not
    hold them."""
    exported = tmp_path / "exported"
    exported.mkdir()
    exported.chmod(0o777)  # the server squashes uid 0 of a client
    with peer.Server(["tcp://127.0.0.1:0"], export=str(exported)) as server:
        url = server.listening[0] + "/export"
        with open(tmp_path / "here", "wb") as here:
            here.truncate(8 << 30)
        copying = subprocess.Popen(
            [
                sys.executable,
                "-c",
                INTERRUPTIBLE,
                "cp",
                "--sparse=never",
                tmp_path / "here",
                f"{url}/there",
            ],
            stderr=subprocess.PIPE,
        )
        files = peer.Files(url, uid=0)
        export = files.find("/export")
        while not any(entry.name.endswith(".part") for entry in files.list(export)):
            assert copying.poll() is None, "it was over too early"
        copying.send_signal(number)
        assert copying.communicate(timeout=DEADLINE_S) == (None, b"")
        assert copying.returncode == 128 + number
        assert [entry.name for entry in files.list(export)] == []


def test_interrupt_ends_the_wait_for_a_silent_server():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(DEADLINE_S)
        url = f"tcp://127.0.0.1:{silent.getsockname()[1]}/export"
        listing = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTIBLE, "ls", url], stderr=subprocess.PIPE
        )
        try:
            connection, _ = silent.accept()
            with connection:
                connection.settimeout(DEADLINE_S)
                assert connection.recv(4), "no call came"
                listing.send_signal(signal.SIGINT)
                assert listing.communicate(timeout=INTERRUPT_S) == (None, b"")
        finally:
            listing.kill()
            listing.wait()
    assert listing.returncode == 130


def _refuse(listener):
    """Answers the first call of a connection with PROG_UNAVAIL (RFC 5531 9)."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as stream:
        length = int.from_bytes(stream.read(4), "big") & 0x7FFFFFFF
        xid = stream.read(length)[:4]
        reply = xid + struct.pack(">5I", 1, 0, 0, 0, 1)
        connection.sendall((0x80000000 | len(reply)).to_bytes(4, "big") + reply)
        stream.read(1)  # until the client goes


def test_a_port_without_mount_is_named_as_that(capsys):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE_S)
        answering = threading.Thread(target=_refuse, args=[listener], daemon=True)
        answering.start()
        url = f"tcp://127.0.0.1:{listener.getsockname()[1]}/export"
        assert steertag("ls", "--nfs", "3", url) == 2
        answering.join(DEADLINE_S)
    said = capsys.readouterr().err
    assert "this port has no MOUNT version 3 (--mount-port names another port)" in said

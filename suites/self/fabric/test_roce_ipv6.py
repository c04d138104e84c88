"""Our peers, and a case, over RoCE with IPv6. They take UDP port 4791 of ::1, and the client that of another
address of this machine."""

import contextlib
import pathlib
import socket
import subprocess
import tempfile

import pytest
from roce_captures import expect_right_checksums, expect_roce, needs_tshark, run_case
from steertag_command import RUN_LIMIT_S, bundled, steertag

LISTEN = "roce://[::1]:0"
ADDRESSES = pathlib.Path("/proc/net/if_inet6")
# In its lines: the field of an address's scope, and that of those which reach ::1.
SCOPE_AT, GLOBAL = 3, "00"
# The port is the machine's: all runs of these tests take turns. Each one ends within its own limits.
LOCK = pathlib.Path(tempfile.gettempdir(), "steertag-roce-ipv6.lock")
LOCK_LIMIT_S = 5 * RUN_LIMIT_S


def has_loopback():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as trial:
        trial.bind(("::1", 0))
        return True
    return False


def has_another_address():
    lines = ADDRESSES.read_text().splitlines() if ADDRESSES.exists() else []
    return any(line.split()[SCOPE_AT] == GLOBAL for line in lines)


pytestmark = pytest.mark.skipif(not has_loopback(), reason="this machine has no ::1")
needs_two_ends = pytest.mark.skipif(
    not has_another_address(), reason="this machine has no IPv6 address for a client beside ::1"
)


@pytest.fixture(autouse=True)
def turn():
    """The only user of the port."""
    with contextlib.suppress(PermissionError):  # the file of another user
        LOCK.touch()
    with LOCK.open() as lock:
        # The lock is of the open file, and stays with this process.
        wait = ["flock", "--timeout", str(LOCK_LIMIT_S), str(lock.fileno())]
        subprocess.run(wait, pass_fds=[lock.fileno()], check=True)
        yield


@needs_two_ends
def test_files_are_copied_there_and_back(tmp_path):
    sent, back = tmp_path / "sent", tmp_path / "back"
    sent.write_bytes(bytes(range(256)) * 4096)
    with bundled(tmp_path, listen=LISTEN) as url:
        assert url.startswith("roce://[::1]:")
        for source, target in ((sent, f"{url}/file"), (f"{url}/file", back)):
            done = steertag("cp", source, target)
            assert done.returncode == 0, done.stdout + done.stderr
    assert back.read_bytes() == sent.read_bytes()


def test_a_second_server_hears_that_the_port_is_in_use(tmp_path):
    with bundled(tmp_path, listen=LISTEN):
        done = steertag("serve", "--listen", LISTEN)
    assert done.returncode != 0
    assert ":4791: UDP port in use by another RoCE end" in done.stderr


@needs_two_ends
@needs_tshark
def test_a_case_passes_and_its_capture_is_read_back(tmp_path):
    row, path = run_case(tmp_path, listen=LISTEN)
    assert row["verdict"] == "pass", row["reason"]
    expect_roce(path, also="ipv6.addr == ::1")
    expect_right_checksums(path)
    done = steertag("grade", path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "invariant CRC" not in done.stdout

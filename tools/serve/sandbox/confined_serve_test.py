"""The sandbox of steertag-serve, looked at from outside."""

import contextlib
import os
import signal
import subprocess

import pytest

from steertag.build_paths import tool

LISTEN = ("--listen", "iwarp://127.0.0.1:0")
# Everything here ends at once or has failed.
DEADLINE_S = 20
# Bits of linux/capability.h: CHOWN, DAC_OVERRIDE, FOWNER, FSETID and MKNOD; DAC_READ_SEARCH.
WRITABLE_EXPORT = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 27
READ_ONLY_EXPORT = 1 << 2
DAC_OVERRIDE = 1 << 1
FILTERED = 2  # SECCOMP_MODE_FILTER
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to give up")


@contextlib.contextmanager
def serving(*arguments):
    """A server that has said where it listens, and is therefore confined."""
    server = subprocess.Popen(
        [tool("steertag-serve"), *LISTEN, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout.readline().startswith("listening at iwarp://127.0.0.1:")
        yield server
    finally:
        server.kill()
        server.communicate(timeout=DEADLINE_S)


def status_of(process):
    """{name: value} of /proc/PID/status."""
    with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as lines:
        return dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)


def capabilities(process, name="CapEff"):
    return int(status_of(process)[name], 16)


def test_it_gains_no_privileges_and_filters_system_calls():
    with serving() as server:
        status = status_of(server.pid)
    assert status["NoNewPrivs"] == "1"
    assert int(status["Seccomp"]) == FILTERED


@as_root
@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ((), 0),
        (("--export", "export"), WRITABLE_EXPORT),
        (("--export", "export", "--read-only"), READ_ONLY_EXPORT),
        (("--recovery", "clients"), DAC_OVERRIDE),
    ],
    ids=["memory", "export", "read-only", "recovery"],
)
def test_root_keeps_the_capabilities_of_its_export(tmp_path, monkeypatch, options, kept):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "export").mkdir()
    had = capabilities("self")
    with serving(*options) as server:
        for name in ("CapEff", "CapPrm"):
            assert capabilities(server.pid, name) == had & kept, name
        for name in ("CapInh", "CapAmb"):
            assert capabilities(server.pid, name) == 0, name
        assert capabilities(server.pid, "CapBnd") & ~kept == 0


def test_without_the_sandbox_it_is_as_it_was_started():
    before = status_of("self")
    with serving("--no-sandbox") as server:
        status = status_of(server.pid)
    for name in ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp"):
        assert status[name] == before[name], name


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV])
def test_its_end_is_still_seen_for_what_it_is(number):
    with serving() as server:
        server.send_signal(number)
        status = server.wait(DEADLINE_S)
    assert status == (0 if number == signal.SIGTERM else -number)


def test_it_says_nothing_where_it_has_all():
    with serving() as server:
        server.terminate()
        errors = server.communicate(timeout=DEADLINE_S)[1]
    lacking = [line for line in errors.splitlines() if "sandbox without" in line]
    assert all("Landlock" in line for line in lacking), "a kernel that runs this has the rest"

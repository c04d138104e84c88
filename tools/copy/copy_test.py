"""The reference client as a program: its options, and its errors."""

import subprocess

import pytest

from steertag import peer
from steertag.build_paths import tool

# Everything here ends at once or has failed.
DEADLINE_S = 60
SOURCE_BYTES = 300_001


@pytest.fixture
def server():
    with peer.Server(["iwarp://127.0.0.1:0", "tcp://127.0.0.1:0"]) as running:
        files = peer.Files(running.listening[0])
        bench = files.new_bench(files.find("/export"), "source", SOURCE_BYTES)
        bench.fill()
        bench.close()
        files.end()
        yield running


def copy(url, *options):
    return subprocess.run(
        [tool("steertag-copy"), f"{url}/export", *options],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )


@pytest.mark.parametrize("version", ["3", "4.1"])
@pytest.mark.parametrize("transport", ["iwarp", "tcp"])
def test_each_size_and_number_of_calls_copies(server, transport, version):
    url = next(each for each in server.listening if each.startswith(transport))
    options = ("--io-bytes", "1000", "--in-flight", "3", "--inline-bytes", "2048")
    done = copy(url, *options, "--chunk-from", "1", "--nfs", version)
    assert (done.returncode, done.stderr) == (0, "")
    files = peer.Files(url)
    files.bench(files.find("/export/copy")).compare()
    assert files.find("/export/copy").size == SOURCE_BYTES


@pytest.mark.parametrize("version", ["3", "4.1"])
@pytest.mark.parametrize("mode", peer.TRANSFER_MODES)
def test_each_transfer_mode_copies(server, mode, version):
    url = server.listening[0]
    done = copy(url, "--transfer", mode, "--nfs", version, "--io-bytes", "3000")
    assert (done.returncode, done.stderr) == (0, "")
    files = peer.Files(url)
    files.bench(files.find("/export/copy")).compare()


def test_transfer_modes_need_rdma(server):
    done = copy(server.listening[1], "--transfer", "pre-posted")
    assert (done.returncode, done.stderr) == (
        1,
        "steertag-copy: the call failed: pre-posted transfers need RDMA, not tcp://\n",
    )


def test_recoverable_faults_need_optimistic_transfers(server):
    done = copy(server.listening[0], "--recoverable-faults")
    assert (done.returncode, done.stderr) == (
        1,
        "steertag-copy: the call failed: recoverable faults are for optimistic transfers only\n",
    )


@pytest.mark.parametrize(
    "options",
    [
        ("--io-bytes", "0"),
        ("--io-bytes", "1048577"),
        ("--in-flight", "0"),
        ("--in-flight", "65"),
        ("--inline-bytes", "1025"),
        ("--chunk-from", "0"),
        ("--transfer", "quickly"),
    ],
)
def test_impossible_options_are_refused(options):
    done = copy("tcp://127.0.0.1:1", *options)
    assert done.returncode == 2
    assert options[0] in done.stderr

"""Benches of layouts, of creates at several servers, and of READs by Zipf's law, against steertag-serve."""

import contextlib
import re
import subprocess

import pytest

from steertag import peer
from steertag.build_paths import tool

DEADLINE_S = 20
PLACE = re.compile(r"listening at (\S+)\n")
PUSHED = re.compile(r"server: \d+ messages, \d+ octets pulled, (\d+) octets pushed")
UNIT = 65536
# nfsv4_1_file_layout4 with one of the server's filehandles, and each further one.
ONE_HANDLE, HANDLE = 84, 48


@contextlib.contextmanager
def serving(provider, *options):
    """(its process, its URL); killed in the end."""
    command = [
        tool("steertag-serve"),
        "--listen",
        f"{provider}://127.0.0.1:0",
        "--counts",
        *options,
    ]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    try:
        yield process, PLACE.fullmatch(process.stdout.readline())[1]
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE_S)


def pushed_at_end(process):
    """Octets of RDMA Writes of the metadata server."""
    process.terminate()
    text, _ = process.communicate(timeout=DEADLINE_S)
    return int(PUSHED.search(text)[1])


def client(url, **options):
    return peer.Files(url, version=4, uid=0, **options)


@pytest.mark.parametrize("provider", ["iwarp", "tcp"])
@pytest.mark.parametrize("turns", [1, 100])
def test_a_layout_beyond_the_threshold_takes_a_reply_chunk_over_rdma(provider, turns):
    how = ("--pnfs", 1, "--packing", "dense", "--stripe-turns", turns)
    with serving(provider, *how) as (process, url):
        files = client(url)
        files.new_bench(files.find("/export"), "file", 1).close()
        bench = files.layout_bench(files.find("/export/file"))
        found = bench.measure(duration_s=0.01)
        bench.close()
        files.end()
        pushed = pushed_at_end(process)
    assert found.calls > 0
    octets = ONE_HANDLE + (turns - 1) * HANDLE
    assert found.bytes == found.calls * octets
    if provider == "iwarp" and turns > 1:
        assert pushed > (found.calls + 1) * octets, "each whole reply"
    else:
        assert pushed == 0


@pytest.mark.parametrize("provider", ["iwarp", "tcp"])
def test_creates_leave_nothing_at_any_server(provider):
    with serving(provider) as (_, url), serving(provider) as (_, other_url):
        first, other = client(url), client(other_url)
        bench = first.create_bench([other], "/export")
        for servers, in_flight in ((1, 1), (2, 1), (2, 16)):
            found = bench.measure(servers=servers, in_flight=in_flight, duration_s=0.01)
            assert found.calls >= in_flight
        for files in (first, other):
            assert files.list(files.find("/export")) == []
        with pytest.raises(ValueError, match="servers: 1 to 2"):
            bench.measure(servers=3)
        with pytest.raises(ValueError, match="in_flight: 1 to 64"):
            bench.measure(servers=1, in_flight=65)


def test_layouts_and_creates_need_version_4():
    with serving("tcp") as (_, url):
        files = peer.Files(f"{url}/export", version=3, uid=0)
        with pytest.raises(ValueError, match="it needs NFS version 4.1"):
            files.create_bench([], "/export")
        with pytest.raises(ValueError, match="it needs NFS version 4.1"):
            files.layout_bench(files.find("/export"))


def test_reads_by_zipf_s_law_reach_all_data_servers():
    with serving("iwarp", "--pnfs", 3, "--stripe-unit", UNIT) as (_, url):
        files = client(url)
        bench = files.new_bench(files.find("/export"), "file", 64 * UNIT)
        bench.fill()
        found = bench.measure(
            "read", io_bytes=UNIT // 2, zipf_alpha=0.9, seed=1, duration_s=1.0, least_calls=100
        )
        assert found.bytes == found.calls * UNIT // 2
        reads = [each["reads"] for each in files.pnfs["data_servers"]]
        assert sum(reads) == found.calls
        assert min(reads) > 0
        for wrong in ({"zipf_alpha": -1}, {"zipf_alpha": 11}, {"io_bytes": 65 * UNIT}):
            with pytest.raises(ValueError, match="zipf_alpha"):
                bench.measure("read", **{"io_bytes": UNIT, "zipf_alpha": 0.9, **wrong})
        bench.close()

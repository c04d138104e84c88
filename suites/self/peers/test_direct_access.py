"""`steertag cp --optimistic` from `steertag serve --optimistic`, as programs of their own."""

import json

import pytest
from steertag import peer
from steertag_command import bundled, steertag

BLOCK = 65536
SIZE = 5 * BLOCK + 1000


def octets(size):
    return bytes((index * 31 + index // 251) % 256 for index in range(size))


def succeeded(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("listen", ["iwarp://127.0.0.1:0", "roce://127.0.0.1:0"])
@pytest.mark.parametrize("version", ["3", "4.1"])
def test_every_block_is_read_by_rdma(tmp_path, listen, version):
    (tmp_path / "here").write_bytes(octets(SIZE))
    with bundled(tmp_path, "--optimistic", listen=listen) as url:
        stored = steertag("cp", "--nfs", version, tmp_path / "here", f"{url}/there")
        succeeded(stored)
        fetched = steertag(
            "cp", "--nfs", version, "--optimistic", f"{url}/there", tmp_path / "back"
        )
        assert succeeded(fetched) == "6 reads by RDMA, 0 by RPC\n"
    assert (tmp_path / "back").read_bytes() == octets(SIZE)


@pytest.mark.parametrize("agrees", [False, True])
def test_stale_references_cost_no_connection(tmp_path, agrees):
    words = ["--optimistic", *(["--recoverable-faults"] if agrees else [])]
    with bundled(tmp_path, *words) as url:
        writer = peer.Files(url)
        directory = writer.find("/export")
        blocks = writer.new_bench(directory, "file", 4 * BLOCK)
        blocks.fill()
        reader = peer.Files(url, transfer="optimistic", recoverable_faults=True)
        reads = reader.bench(reader.find("/export/file"))
        reads.measure("read", io_bytes=BLOCK, in_flight=1, duration_s=0, least_calls=4)
        before = dict(reader.optimistic)
        blocks.measure("write_sync", io_bytes=BLOCK, in_flight=1, duration_s=0, least_calls=4)
        reads.measure("read", io_bytes=BLOCK, in_flight=4, duration_s=0, least_calls=8)
        after = reader.optimistic
        reads.compare()
    assert after["failed"] > before["failed"], "no reference was stale"
    assert (
        after["valid"] > before["valid"]
    ), "the connection ended, and the reads behind it were by RPC"
    assert after["nfs_reads"] == before["nfs_reads"]


@pytest.mark.parametrize("version", ["3", "4.1"])
def test_a_bench_of_a_directory_reads_its_file_so(tmp_path, version):
    words = ("--transfer", "optimistic", "--nfs", version, "--no-write", "--io-bytes", "64K")
    words += ("--in-flight", "1", "--seconds", "0.01", "--rounds", "1", "--file-bytes", "512K")
    with bundled(tmp_path, "--optimistic") as url:
        found = json.loads(succeeded(steertag("bench", *words, "--json", url)))
        text = succeeded(steertag("bench", *words, url))
    assert found["optimistic"]["valid"] > 0, found["optimistic"]
    assert found["optimistic"]["nfs_reads"] <= 512 * 1024 // BLOCK, "only what compares the file"
    assert " reads by RDMA, " in text


def test_a_server_without_the_program_makes_no_difference(tmp_path):
    (tmp_path / "here").write_bytes(octets(1000))
    with bundled(tmp_path) as url:
        succeeded(steertag("cp", tmp_path / "here", f"{url}/there"))
        fetched = steertag("cp", "--optimistic", f"{url}/there", tmp_path / "back")
        assert succeeded(fetched) == "0 reads by RDMA, 1 by RPC\n"
    assert (tmp_path / "back").read_bytes() == octets(1000)


def test_a_url_without_rdma_is_refused(tmp_path):
    with bundled(tmp_path, over="tcp") as url:
        done = steertag("cp", "--optimistic", f"{url}/there", tmp_path / "back")
    assert done.returncode == 2
    assert "optimistic reads need RDMA, not tcp://" in done.stderr
    assert not (tmp_path / "back").exists()


def test_an_exported_directory_is_not_served_so(tmp_path):
    done = steertag("serve", "--export", tmp_path, "--optimistic")
    assert done.returncode != 0
    assert "--export excludes --optimistic" in done.stderr

"""`steertag bench` against the bundled server, over RDMA and TCP, and its sentences."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from steertag import cli, peer
from steertag.bench import bench_cells, bench_document, bench_plot, bench_table
from steertag.bench.bench_cells import Cell

QUICK = ("--seconds", "0.01", "--rounds", "2", "--file-bytes", "300000")


def steertag(*arguments):
    return cli.main([str(each) for each in arguments])


def names_at(url):
    files = peer.Files(url)
    return [entry.name for entry in files.list(files.find("/export"))]


@pytest.mark.parametrize("version", ["3", "4.1"])
def test_a_directory_is_measured_and_left_as_it_was(url, capsys, version):
    options = ("--io-bytes", "512,64K", "--in-flight", "1,5", "--sync", "--copy", "--nfs", version)
    assert steertag("bench", url, *options, *QUICK, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["nfs"], found["file_bytes"], found["rounds"]) == (version, 300000, 2)
    kinds = {(row["operation"], row["io_bytes"], row["in_flight"]) for row in found["rows"]}
    assert kinds == {
        (operation, size, calls)
        for operation in ("read", "write", "write_sync")
        for size in (512, 65536)
        for calls in (1, 5)
    }
    for row in found["rows"]:
        assert row["bytes_per_s"] > 0 and row["calls_per_s"] > 0, row
        assert 0 < row["median_s"] <= row["p99_s"], row
        assert row["cpu_s_per_gib"] == pytest.approx(
            row["user_s_per_gib"] + row["system_s_per_gib"], rel=0.5, abs=1
        )
    assert names_at(url) == []


def test_a_file_is_read_only(url, tmp_path, capsys):
    (tmp_path / "here").write_bytes(b"octets" * 1000)
    assert steertag("cp", tmp_path / "here", f"{url}/there") == 0
    assert steertag("bench", f"{url}/there", "--io-bytes", "1K", "--in-flight", "2", *QUICK) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{url}/there: NFS 4.1, a file of 6000 octets")
    assert [line.split()[0] for line in lines[1:3]] == ["operation", "READ"]
    assert lines[2].split()[1:3] == ["1K", "2"]
    assert names_at(url) == ["there"]


def test_the_transport_is_as_asked_for(url, capsys):
    options = ("--inline-bytes", "16K", "--chunk-from", "512", "--no-crc", "--no-write")
    assert steertag("bench", url, *options, *QUICK, "--io-bytes", "8K", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["operation"] for row in found["rows"]} == {"read"}
    assert found["crc"] is False


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--io-bytes", "0"), "'0' is not 1 to 1048576 octets, as 4096, 4K or 1M"),
        (("--io-bytes", "4K,2M"), "'2M' is not 1 to 1048576 octets, as 4096, 4K or 1M"),
        (("--in-flight", "65"), "'65' is not 1 to 64 calls"),
        (("--inline-bytes", "1500"), "'1500' is no multiple of 1024 (RFC 8797 4.2)"),
        (("--seconds", "nan"), "'nan' is not 0.01 to 600"),
        (("--rounds", "0"), "'0' is not 1 to 99"),
        (("--plot", "plot.gif"), "--plot plot.gif: the name ends with .svg"),
    ],
)
def test_impossible_options_are_one_sentence(capsys, options, sentence):
    try:
        status = steertag("bench", "tcp://127.0.0.1:1/export", *options)
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(sentence)


def test_what_cannot_be_measured_is_one_sentence(url, tmp_path, capsys):
    (tmp_path / "empty").write_bytes(b"")
    assert steertag("cp", tmp_path / "empty", f"{url}/empty") == 0
    for path, sentence in (
        (f"{url}/empty", "the file is empty; name a directory, and a file is made there"),
        (f"{url}/missing", "NFS4ERR_NOENT"),
        (str(tmp_path), "this is no URL, as iwarp://HOST/export"),
    ):
        assert steertag("bench", path, *QUICK) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and sentence in error, error


def test_too_many_kinds_are_refused(url, capsys):
    sizes = ",".join(str(size) for size in range(1, 200))
    assert steertag("bench", url, "--io-bytes", sizes, *QUICK) == 2
    assert "1194 kinds of measurement are too many: 500 at most" in capsys.readouterr().err


def test_a_full_server_leaves_no_file(server, capsys):
    url = next(each for each in server.listening if each.startswith("tcp")) + "/export"
    assert steertag("bench", url, "--file-bytes", "257M", "--seconds", "0.01") == 2
    assert "NFS4ERR_NOSPC" in capsys.readouterr().err
    assert names_at(url) == []


def test_the_plot_is_drawn_and_the_same_for_the_same_figures(url, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="python3-matplotlib is not installed")
    plot = tmp_path / "plot.svg"
    assert steertag("bench", url, *QUICK, "--io-bytes", "4K,64K", "--plot", plot, "--json") == 0
    root = xml.etree.ElementTree.parse(plot).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = " ".join(root.itertext())
    assert "READ, MB/s" in texts and "WRITE, client CPU s/GiB" in texts and "16 in flight" in texts
    found = json.loads(capsys.readouterr().out)
    assert bench_plot.svg(found) == bench_plot.svg(found) == plot.read_text(encoding="utf-8")


def test_without_matplotlib_a_plot_is_refused_before_anything_is_measured(tmp_path):
    code = "import sys; sys.modules['matplotlib'] = None; from steertag.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "bench", "tcp://127.0.0.1:1/x", "--plot", "x.svg"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"steertag: {bench_plot.NEEDS}\n")
    assert os.listdir(tmp_path) == []


def test_rounds_take_turns():
    wanted = bench_cells.cells(["read"], [512, 4096], [1, 2])
    turns = list(bench_cells.turns(wanted, 4))
    rounds = [turns[at : at + 4] for at in range(0, 16, 4)]
    assert all(set(each) == set(wanted) for each in rounds)
    assert rounds[0] == wanted and rounds[1] != wanted
    assert len({each[0] for each in rounds}) > 2, "the first of a round is not always the same"


class Fixed:
    """A peer.Measured of one second."""

    def __init__(self, octets):
        self.bytes, self.calls, self.elapsed_s = octets, 100, 1.0
        self.user_s, self.system_s = 0.25, 0.5

    def response_s(self, share):
        return share / 100


def test_a_row_has_medians_and_the_spread():
    octets = [1024**3, 2 * 1024**3, 4 * 1024**3]
    row = bench_document.row(Cell("read", 4096, 1), [Fixed(each) for each in octets])
    assert row["bytes_per_s"] == octets[1]
    assert row["spread"] == 1.5
    assert row["cpu_s_per_gib"] == 0.375
    assert row["cpu_share"] == 0.75
    assert (row["median_s"], row["p99_s"]) == pytest.approx((0.005, 0.0099))
    found = {"url": "u", "nfs": "3", "file_bytes": 1, "rounds": 3, "seconds": 1, "rows": [row]}
    text = bench_table.text(found)
    assert "~150%" in text and text.endswith("~ the rounds differ by more than 10%.")

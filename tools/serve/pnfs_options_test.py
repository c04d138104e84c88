"""steertag-serve --pnfs, --pnfs-mds and --pnfs-ds: options that do not go together, and a socket that cannot be had."""

import os
import signal
import subprocess

import pytest

from steertag import build_paths

PROGRAM = os.environ.get("STEERTAG_SERVE") or str(build_paths.tool("steertag-serve"))
REFUSAL_S = 30
SHARED = ["--export", "{0}", "--handle-key", "{0}.key", "--control", "{0}.control"]
RECOVERY = ["--recovery", "{0}.recovery"]
NEEDS = "--pnfs-mds and --pnfs-ds need --control, --export and --handle-key"


def refusal(directory, *words):
    """(exit status, the only line on stderr) of a server that shall not start."""
    command = [
        PROGRAM,
        "--listen",
        "tcp://127.0.0.1:0",
        *(word.format(directory) for word in words),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=REFUSAL_S, check=False)
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    return ended.returncode, line.removeprefix("steertag-serve: ")


@pytest.mark.parametrize(
    "words, line",
    [
        (["--packing", "dense"], "the options of stripes need --pnfs or --pnfs-mds"),
        (["--stripe-turns", "2"], "the options of stripes need --pnfs or --pnfs-mds"),
        (["--layout-seqid", "2"], "the options of stripes need --pnfs or --pnfs-mds"),
        (
            ["--pnfs", "2", "--stripe-turns", "2"],
            "--pnfs: more than one stripe unit of a data server in a stripe needs dense packing",
        ),
        (
            ["--pnfs", "2", "--stripe-turns", "513", "--packing", "dense"],
            "--pnfs: a stripe has 1 to 512 turns of 2 data servers",
        ),
        (["--pnfs-host", "192.0.2.1"], "--pnfs-host needs --pnfs or --pnfs-ds"),
        (["--plain-data-servers"], "--plain-data-servers needs --pnfs or --pnfs-ds"),
        (["--control", "{0}.control"], "--control needs --pnfs-mds or --pnfs-ds"),
        (["--pnfs-ds", "1"], NEEDS),
        (["--pnfs-mds", "2", *SHARED[4:], *RECOVERY], NEEDS),
        (["--pnfs-mds", "2", *SHARED], "--pnfs-mds needs --recovery"),
        (
            ["--pnfs-ds", "2", *SHARED, *RECOVERY],
            "--pnfs-ds takes no --recovery: its metadata server keeps the clients",
        ),
    ],
)
def test_options_that_do_not_go_together(tmp_path, words, line):
    assert refusal(tmp_path, *words) == (2, line)


def test_a_file_at_the_place_of_the_socket_stays(tmp_path):
    directory = tmp_path / "export"
    directory.mkdir()
    control = tmp_path / "export.control"
    control.write_text("kept")
    status, line = refusal(directory, "--pnfs-mds", "2", *SHARED, *RECOVERY)
    assert status == 1
    assert (
        line
        == f"no data servers can come: the address cannot be listened on: {control}: Address already in use"
    )
    assert control.read_text() == "kept"


def test_a_data_server_in_the_sandbox_stays_where_it_is():
    command = [PROGRAM, "--listen", "tcp://127.0.0.1:0", "--pnfs", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout.readline().startswith("listening at")
            server.send_signal(signal.SIGRTMIN)
            said = next(line for line in server.stderr if "a data server" in line)
        finally:
            server.kill()
    assert said == "steertag-serve: a data server moves with --no-sandbox alone\n"

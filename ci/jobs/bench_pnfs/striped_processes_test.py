"""Servers are there once each data server and the metadata server know each other."""

import contextlib

import pytest

from ci.jobs.bench_nfs.bench_servers import CannotMeasure, Place
from ci.jobs.bench_pnfs import striped_processes
from ci.jobs.bench_pnfs.striped_processes import StripedProcesses

DATA_SERVERS = 2
# Takes the place of steertag-serve; its log says what a data server and the metadata server write.
SHELL = "#!/bin/sh\n"
PROGRAM = f"""{SHELL}\
echo "listening at iwarp://10.0.0.2:20049"
case " $* " in
  *" --pnfs-ds "*) printf '%s' "$JOINED" >&2 ;;
esac
exec sleep 30
"""
METADATA_SERVER = "steertag-serve: the metadata server is here\n"


class Host:
    place = Place("10.0.0.2")


class Hosts:
    metadata_server, data_servers = Host(), [Host()] * (DATA_SERVERS + 1)


@pytest.fixture
def start(monkeypatch, tmp_path):
    program = tmp_path / "serve"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(striped_processes, "PROGRAM", program)
    monkeypatch.setattr(striped_processes, "MEMORY", tmp_path)

    def with_log(joined):
        monkeypatch.setenv("JOINED", joined)
        with contextlib.ExitStack() as stack:
            servers = StripedProcesses(stack, Hosts, "iwarp", DATA_SERVERS, "--commit", "mds")
            assert all(each.poll() is None for each in servers.data_servers)
            servers.cpu_s()
        return servers

    return with_log


def test_each_data_server_is_a_process_that_ends_with_the_row(start):
    servers = start(METADATA_SERVER + "steertag-serve: data server 1 is here\n")
    assert servers.urls == {"iwarp": "iwarp://10.0.0.2:20049/export"}
    assert len(servers.data_servers) == DATA_SERVERS
    assert all(each.returncode is not None for each in servers.data_servers)


def test_data_servers_alone_that_know_the_metadata_server_are_no_start(start, monkeypatch):
    # Of one pair only one side is there: the metadata server would refuse layouts.
    monkeypatch.setattr(striped_processes, "START_LIMIT_S", 0.1)
    with pytest.raises(CannotMeasure, match="did not join"):
        start(METADATA_SERVER)


def test_a_server_that_does_not_start_says_why(start, monkeypatch):
    program = striped_processes.PROGRAM
    program.write_text(f"{SHELL}echo no such address >&2\n", encoding="utf-8")
    with pytest.raises(CannotMeasure, match="no such address"):
        start("")

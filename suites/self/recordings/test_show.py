"""`steertag replay --show`: the messages of a recording in order, decoded, and the judgement behind them."""

import dataclasses
import re

import warm_runs
from steertag_command import RUN_LIMIT_S, run_suite, steertag

from steertag import build_paths
from steertag.suite.recording.recording_file import read, write


def shown(folder, deviation, case_id):
    """The lines for a failure that this deviation causes."""
    done = steertag("replay", "--show", run_suite(folder, deviation, case_id))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_header_and_reply(tmp_path):
    lines = shown(tmp_path, "version-executed", "server.header.version-zero")
    assert lines[0] == "  #1    c0 -> Connect announces send 4096 receive 4096"
    assert "RDMA_MSG xid" in lines[2] and lines[2].endswith("; CALL NFSv3 NULL")
    assert lines[3].endswith("; REPLY NFSv3 NULL SUCCESS")
    assert "vers 0" in lines[4] and "rdma_vers is not 1" in lines[4]
    assert lines[-1] == "fail at #6: RFC8166-4.5.1-1: expected err-vers, saw reply"
    assert lines[-2].startswith("> #6 ")
    assert lines[-2].endswith("; REPLY NFSv3 NULL SUCCESS  breaks RFC8166-4.5.1-1")


def test_rdma_writes_and_their_chunk(tmp_path):
    lines = shown(tmp_path, "write-beyond-chunk", "server.write-chunk.read-1")
    (call,) = [line for line in lines if "; CALL NFSv3 READ fh #" in line]
    assert "; write chunk 1: 1 segment of 1 octet; " in call
    xid = call.split("xid ")[1].split()[0]
    (write,) = [line for line in lines if "RDMA Write" in line]
    assert write.startswith("> #")
    assert write.endswith(
        f"<- RDMA Write of 5 octets into write chunk 1 of xid {xid}, segment 1 offset 0, "
        "4 octets beyond its end  breaks RFC8166-8.1.4-2"
    )
    number = write.split()[1]
    assert lines[-1].startswith(f"fail at {number}: ")
    assert lines[lines.index(write) + 1].endswith("-> Terminate: our provider refuses what came")


def test_records_in_fragments_over_tcp(tmp_path):
    case_id = "server.records.empty-fragments-between"
    path = run_suite(tmp_path, "fragments-refused", case_id, over="tcp")
    lines = steertag("replay", "--show", path).stdout.splitlines()
    assert lines[0].endswith("-> Connect over TCP")
    assert re.search(r"record of 40 octets xid 0x\w{8}; CALL NFSv3 NULL$", lines[1])
    assert lines[-3].endswith("<- the target ended the stream")
    assert lines[-1] == "fail: RFC5531-11-3: expected reply, saw disconnect"


def test_no_recording(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"octets")
    done = steertag("replay", "--show", path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "not a recording of Steertag" in done.stderr
    assert not done.stdout


def test_operations_of_a_client(tmp_path):
    case_id = "client.header.plain.version-two"
    suite = build_paths.checkout() / "suites" / "client"
    words = [str(suite), "-q", f"--case={case_id}"]
    words += [f"--report={tmp_path}", "--client-deviate=takes-any-version"]
    warm_runs.completed("pytest", words, limit_s=RUN_LIMIT_S)
    done = steertag("replay", "--show", tmp_path / "failures" / f"{case_id}.steertag")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "; CALL NFSv4.1 COMPOUND CREATE_SESSION clientid 0x" in lines[4]
    assert "; REPLY NFSv4.1 COMPOUND NFS4_OK: CREATE_SESSION OK " in lines[7]
    assert any("vers 2" in line and "rdma_vers is not 1" in line for line in lines)


def test_damaged_steps(tmp_path):
    recording = read(run_suite(tmp_path, "version-executed", "server.header.version-zero"))
    steps = [
        dataclasses.replace(step, fields={"conn": "c0"}) if step.kind == "expect" else step
        for step in recording.steps
    ]
    path = tmp_path / "damaged.steertag"
    write(path, dataclasses.replace(recording, steps=steps))
    done = steertag("replay", "--show", path)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.count("\n") == 1 and "steps are damaged" in done.stderr


def test_passed_expectation_names_no_message(tmp_path):
    recording = read(run_suite(tmp_path, "version-executed", "server.header.version-zero"))
    path = tmp_path / "hang.steertag"
    reason = "after the case the server does not answer a new connection"
    write(path, dataclasses.replace(recording, verdict="hang", reason=reason))
    assert steertag("replay", "--show", path).stdout.splitlines()[-1] == f"hang: {reason}"

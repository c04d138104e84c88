"""`steertag replay --show`: the messages of a recording in order, decoded, and the judgement behind them."""

import dataclasses
import subprocess
import sys

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
    assert lines[0].startswith("   1 c0 -> client connect with private data [f6ab0e18 ")
    assert "RDMA_MSG xid" in lines[2] and lines[2].endswith("; CALL NFSv3 NULL")
    assert lines[3].endswith("; REPLY NFSv3 NULL OK")
    assert "vers 0" in lines[4] and "rdma_vers is not 1" in lines[4]
    assert lines[-1] == "fail of message 6: RFC8166-4.5.1-1: expected err-vers, saw reply"
    assert lines[-2].endswith("; REPLY SUCCESS")


def test_rdma_writes_and_their_chunk(tmp_path):
    lines = shown(tmp_path, "write-beyond-chunk", "server.write-chunk.read-1")
    (call,) = [line for line in lines if line.endswith("; CALL NFSv3 READ")]
    handle, offset = call.split("handle ")[1].split()[0], call.split("offset ")[1].split(";")[0]
    assert "length 1 " in call
    (write,) = [line for line in lines if " rdma_write " in line]
    assert write.endswith(f"<- server rdma_write 5 octets to STag {handle} offset {offset}")
    assert lines[lines.index(write) + 1].endswith(
        "-> client terminate, because what came is illegal"
    )


def test_records_in_fragments_over_tcp(tmp_path):
    case_id = "server.records.empty-fragments-between"
    path = run_suite(tmp_path, "fragments-refused", case_id, over="tcp")
    lines = steertag("replay", "--show", path).stdout.splitlines()
    assert lines[0].endswith("-> client connect_tcp")
    assert lines[1].endswith("record 40 octets: CALL NFSv3 NULL")
    assert lines[-3].endswith("<- server the target ended the stream")
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
    command = [sys.executable, "-m", "pytest", str(suite), "-q", f"--case={case_id}"]
    command += [f"--report={tmp_path}", "--client-deviate=takes-any-version"]
    subprocess.run(command, capture_output=True, timeout=RUN_LIMIT_S)
    done = steertag("replay", "--show", tmp_path / "failures" / f"{case_id}.steertag")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[4].endswith("; CALL NFSv4 COMPOUND CREATE_SESSION")
    assert lines[7].endswith("; REPLY NFSv4 COMPOUND OK CREATE_SESSION NFS4_OK")
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

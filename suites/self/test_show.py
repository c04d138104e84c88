"""`steertag replay --show`: the messages of a recording in order, decoded, and the judgement behind them."""

from steertag_command import run_suite, steertag


def shown(folder, deviation, case_id):
    """The lines for a failure that this deviation causes."""
    done = steertag("replay", "--show", run_suite(folder, deviation, case_id))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_header_and_reply(tmp_path):
    lines = shown(tmp_path, "version-executed", "server.header.version-zero")
    assert lines[0].startswith("   1 c1 -> client connect with private data [f6ab0e18 ")
    assert "RDMA_MSG xid" in lines[2] and lines[2].endswith("; CALL NFSv3 NULL")
    assert lines[3].endswith("; REPLY NFSv3 NULL OK")
    assert "vers 0" in lines[4] and "rdma_vers is not 1" in lines[4]
    assert lines[-1] == "fail of message 6: RFC8166-4.5.1-1: expected err-vers, saw reply"
    assert " disconnect" in lines[-2]


def test_rdma_writes_and_their_chunk(tmp_path):
    lines = shown(tmp_path, "write-beyond-chunk", "server.write-chunk.read-1")
    (call,) = [line for line in lines if line.endswith("; CALL NFSv3 READ")]
    handle, offset = call.split("handle ")[1].split()[0], call.split("offset ")[1].split(";")[0]
    assert "length 1 " in call
    writes = [line for line in lines if " rdma_write " in line]
    assert writes[0].endswith(f"<- server rdma_write 1 octet to STag {handle} offset {offset}")
    beyond = f"0x{int(offset, 16) + 1:016x}"
    assert writes[1].endswith(f"rdma_write 4 octets to STag {handle} offset {beyond}")
    assert lines[lines.index(writes[1]) + 1].endswith("; REPLY NFSv3 READ OK")


def test_records_in_fragments_over_tcp(tmp_path):
    case_id = "server.records.empty-fragments-between"
    path = run_suite(tmp_path, "fragments-refused", case_id, over="tcp")
    lines = steertag("replay", "--show", path).stdout.splitlines()
    assert lines[0].endswith("-> client connect_tcp")
    assert lines[1].endswith("record 40 octets: CALL NFSv3 NULL")
    assert lines[-2].endswith("<- server disconnect")
    assert lines[-1] == "fail: RFC5531-11-3: expected reply, saw disconnect"


def test_no_recording(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"octets")
    done = steertag("replay", "--show", path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "not a recording of Steertag" in done.stderr
    assert not done.stdout

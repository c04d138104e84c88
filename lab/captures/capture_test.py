"""Tests of the workload of a recorded client and server, and of the file made of it."""

import struct
import types

import pytest

from lab import target as targets
from lab.captures import capture, capture_file, capture_workload
from lab.failure import LabFailure
from lab.machines import link
from lab.machines.agent import OrderFailed

PCAP = capture_file.PCAP_HEADER.pack(capture_file.PCAP_MAGIC, 2, 4, 0, 0, 65536, 1)


def record(seconds, microseconds, data, length=None):
    return struct.pack("<IIII", seconds, microseconds, len(data), length or len(data)) + data


def blocks(data):
    """Type and body of each block, whose two lengths have to agree."""
    while data:
        kind, length = struct.unpack_from("<II", data)
        assert length % 4 == 0 and struct.unpack_from("<I", data, length - 4) == (length,)
        yield kind, data[8 : length - 4]
        data = data[length:]


def test_packets_keep_time_lengths_and_octets():
    pcap = PCAP + record(3, 5, b"frame") + record(1 << 31, 999_999, b"cut", 1500)
    made = capture_file.pcapng("what it is", capture_file.packets(pcap))
    section, interface, *packets = blocks(made)
    assert section[0] == 0x0A0D0D0A and b"what it is" in section[1]
    assert interface == (1, struct.pack("<HHI", 1, 0, 0))
    heads = [struct.unpack_from("<IIIII", body) for kind, body in packets if kind == 6]
    times = [high << 32 | low for _, high, low, _, _ in heads]
    assert times == [3_000_005, (1 << 31) * 1_000_000 + 999_999]
    assert [head[3:] for head in heads] == [(5, 5), (3, 1500)]
    assert [body[20:] for _, body in packets] == [b"frame\0\0\0", b"cut\0"]


@pytest.mark.parametrize(
    "pcap, sentence",
    [
        (b"", "not recorded"),
        (b"\x0a" + PCAP[1:], "another kind"),
        (PCAP + record(1, 1, b"frame")[:7], "within a packet, at octet 24"),
        (PCAP + record(1, 1, b"frame")[:-1], "within a packet, at octet 40"),
    ],
)
def test_what_is_no_whole_recording_is_refused(pcap, sentence):
    with pytest.raises(LabFailure, match=sentence):
        list(capture_file.packets(pcap))


@pytest.mark.parametrize("version", capture_workload.VERSIONS)
def test_a_step_is_one_line_of_an_order(version):
    steps = capture_workload.steps(version, 20049, 20048)
    assert all("\n" not in step.command and len(step.command) < 1000 for step in steps)
    assert steps[0].machine == capture_workload.SERVER
    assert [steps[1].text, steps[-1].text] == ["mount", "unmount"]


def test_only_a_version_with_callbacks_recalls():
    texts = {
        version: " ".join(step.text for step in capture_workload.steps(version, 1, 2))
        for version in capture_workload.VERSIONS
    }
    assert "CB_RECALL" in texts["v4.1"] and "CB_RECALL" not in texts["v3"]


def test_one_end_of_the_network_is_recorded(tmp_path):
    _, end = link.pair(tmp_path)
    recorded = capture.RecordedLink(end.address, end.own, end.other, tmp_path / "dump")
    options = recorded.options()
    assert options[: len(end.options())] == end.options()
    assert options[-2:] == [
        "-object",
        f"filter-dump,id=recorder,netdev=link,file={tmp_path / 'dump'}",
    ]


@pytest.mark.parametrize("name", capture.TARGETS)
def test_the_machine_has_what_client_and_server_need(name):
    target = targets.load(name)
    both = capture.both_ways(target)
    assert {"nfsd", "nfs", "rpcrdma"} <= set(both.kernel.modules)
    assert both.directory != target.directory and both.device == target.device


def test_machines_that_do_not_find_each_other_are_booted_again(monkeypatch):
    ends = [LabFailure("no connection"), None]

    def record_once(*_):
        if (end := ends.pop(0)) is not None:
            raise end

    monkeypatch.setattr(capture, "record_once", record_once)
    capture.record(None, None, "v3")
    assert ends == []


def test_a_step_that_fails_is_not_tried_on_other_machines(monkeypatch):
    calls = []

    def record_once(*_):
        calls.append(1)
        raise OrderFailed("the client failed at `cat`")

    monkeypatch.setattr(capture, "record_once", record_once)
    with pytest.raises(LabFailure, match="failed at"):
        capture.record(None, None, "v3")
    assert len(calls) == 1


def test_the_comment_names_kernel_device_version_and_steps():
    steps = capture_workload.steps("v3", 20049, 20048)
    text = capture.comment(types.SimpleNamespace(device="rxe"), "Linux 6.1", "v3", steps)
    assert "Linux 6.1, over rxe; NFS v3" in text
    assert f"{len(steps)}. client: unmount" in text


class Recorder:
    """A machine that records for so many looks, and ends after so many; time passes only while it is waited for."""

    def __init__(self, dump, records, lives=1000):
        self.now, self.looks = 0.0, 0
        self._dump, self._records, self._lives = dump, records, lives

    def monotonic(self):
        return self.now

    def dies(self, limit_s):
        self.now += limit_s
        self.looks += 1
        if self.looks <= self._records:
            with open(self._dump, "ab") as file:
                file.write(b"frame")
        return self.looks > self._lives

    def last_words(self):
        return "it said nothing"


@pytest.mark.parametrize(
    "records, seconds",
    [
        (0, capture.QUIET_S),
        (10, 10 * capture.POLL_S + capture.QUIET_S),
        (999, capture.QUIET_LIMIT_S),
    ],
)
def test_a_recording_ends_once_nothing_more_comes(tmp_path, monkeypatch, records, seconds):
    dump = tmp_path / "dump"
    dump.write_bytes(b"")
    recorder = Recorder(dump, records)
    monkeypatch.setattr(capture, "time", recorder)
    capture.await_quiet(dump, recorder)
    assert recorder.now == pytest.approx(seconds, abs=2 * capture.POLL_S)


def test_a_recording_of_a_machine_that_ends_is_none(tmp_path, monkeypatch):
    dump = tmp_path / "dump"
    dump.write_bytes(b"")
    recorder = Recorder(dump, records=0, lives=2)
    monkeypatch.setattr(capture, "time", recorder)
    with pytest.raises(LabFailure, match="the recording machine has ended; it said nothing"):
        capture.await_quiet(dump, recorder)

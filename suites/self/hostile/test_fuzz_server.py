"""The fuzzer of the whole server: the kept corpus breaks nothing, planted faults are found, and what is found plays
again."""

import random
import re

import fuzz_server
import pytest
from fuzz_changes import Change, MOST_MESSAGES, random_changes
from fuzz_proxy import IwarpStream, RecordStream
from fuzz_server import Fuzzed, Input, inputs, made, read, SIZES, STREAMS, use, VERSIONS

SEEDS = 10
# One of them finds a planted fault; none before them does.
FAULT_SEEDS = range(55, 70)
# A server that hangs is not waited for as long as one on a busy machine.
HANG_S = 3


def test_the_corpus_breaks_nothing(tmp_path):
    with Fuzzed(tmp_path) as fuzzed:
        for name, one in inputs(SEEDS, 1):
            assert fuzzed.play(one) == "", f"{name}: {one.text()}"
        assert fuzzed.messages > 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_use_without_changes_goes_to_its_end(tmp_path, version, size):
    with Fuzzed(tmp_path) as fuzzed:
        use(fuzzed.urls["tcp"], fuzzed.mount_port, version, size, "file")


def test_each_message_of_a_use_may_be_changed(tmp_path):
    with Fuzzed(tmp_path) as fuzzed:
        for over in STREAMS:
            before = fuzzed.messages
            assert fuzzed.play(Input(over, max(VERSIONS), max(SIZES), [])) == ""
            assert fuzzed.messages - before <= MOST_MESSAGES


@pytest.mark.parametrize(
    "deviation, said",
    [
        ("exits-on-broken-list", "the server ended: exit status 70"),
        ("hangs-on-broken-list", "over .* no answer: "),
    ],
)
def test_a_planted_fault_is_found_and_plays_again(tmp_path, monkeypatch, deviation, said):
    monkeypatch.setattr(fuzz_server, "ANSWER_LIMIT_S", HANG_S)
    with Fuzzed(tmp_path, "--deviate", deviation) as fuzzed:
        one = next(each for each in map(made, FAULT_SEEDS) if fuzzed.play(each))
        again = read(fuzzed.keep(one, "found"))
        assert again == one
        assert re.match(said, fuzzed.play(again))


def test_memory_beyond_the_limit_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz_server, "MOST_MEMORY_MIB", 1)
    with Fuzzed(tmp_path) as fuzzed:
        assert "MiB" in fuzzed.play(Input("tcp", 3, 100, []))


def test_an_input_is_the_same_each_time():
    assert made(7) == made(7) and made(7) != made(8)


def test_what_is_no_input_is_told(tmp_path):
    path = tmp_path / "input.yaml"
    path.write_text("over: rdma\n")
    with pytest.raises(ValueError, match="is no input"):
        read(path)


WORDS = bytes.fromhex("00000001 00000002 00000003")


@pytest.mark.parametrize(
    "change, made_of_it",
    [
        (Change(0, "set", 1, 0xFFFFFFFF), ["00000001 ffffffff 00000003"]),
        (Change(0, "add", 0, -1), ["00000000 00000002 00000003"]),
        (Change(0, "flip", 2, 31), ["00000001 00000002 80000003"]),
        (Change(0, "cut", 5), ["00000001 00"]),
        (Change(0, "grow", 2, 255), ["00000001 00000002 00000003 ffff"]),
        (Change(0, "insert", 1, 9), ["00000001 00000009 00000002 00000003"]),
        (Change(0, "remove", 1), ["00000001 00000003"]),
        (Change(0, "copy", 0, 2), ["00000001 00000002 00000001"]),
        (Change(0, "drop"), []),
        (Change(0, "twice"), ["00000001 00000002 00000003"] * 2),
    ],
)
def test_changes(change, made_of_it):
    assert change.apply(WORDS) == [bytes.fromhex(each) for each in made_of_it]


def test_changes_take_any_message():
    source = random.Random(1)
    for _ in range(200):
        for change in random_changes(source):
            for octets in (b"", b"\x01", WORDS):
                assert all(isinstance(each, bytes) for each in change.apply(octets))


@pytest.mark.parametrize("make", [IwarpStream, RecordStream])
def test_streams_carry_what_they_have_taken(make):
    messages = [bytes(16) + b"\0\0\0\2ab", b"a message", b"", WORDS]
    sender, receiver = make(), make()
    octets = b"".join(sender.carried(each, False) for each in messages)
    taken = [each for at in range(len(octets)) for each in receiver.take(octets[at : at + 1])]
    assert taken == messages

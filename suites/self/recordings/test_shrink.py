"""`steertag shrink`: what is left still fails in the same way and passes where it should.

It is as small as leaving things out can make it."""

import dataclasses

import pytest
from steertag_command import bundled, run_cases, run_suite, steertag

from steertag import wire
from steertag.replay.parts import smaller_draft, smaller_octets
from steertag.replay.shrinker import Shrinker
from steertag.replay.steps import listing, tidy
from steertag.suite.exchange.callbacks import read_callback
from steertag.suite.exchange.message import Message
from steertag.suite.recording.recording_file import read, Recording, Step, TargetOf

CASES = """
from steertag import wire
from steertag.suite import case, expect

BROKEN, DATA = "RFC8166-4.5.2-1", "RFC8267-4-3"

@case("self.long", requirements=[BROKEN, DATA], hostile=True)
def test_long(bench):
    content = bytes(range(250)) * 8
    handle = bench.file(content)
    other, conn = bench.connect(), bench.connect()
    for _ in range(3):
        expect(other.probe(), DATA, must=["reply"])
        call = other.nfs_call("READ", file=handle, offset=0, count=2000)
        other.write_chunk(call, sizes=[1000, 1000])
        expect(other.exchange(call), DATA, must=["reply"])
    call = conn.nfs_call("READ", file=handle, offset=0, count=2000)
    conn.write_chunk(call, sizes=[500, 1500])
    conn.write_chunk(call, sizes=[64])
    call.read_list_end = 9
    expect(conn.exchange(call), BROKEN, must=["err-chunk"])
"""
# A failure in a call of the target, which comes after much that does not matter.
CALLBACK = """
from steertag.suite import case, expect

CREDITS = "RFC8167-5.1-1"

@case("self.callback", requirements=[CREDITS], needs=["backchannel"])
def test_callback(bench):
    other = bench.connect()
    for _ in range(3):
        expect(other.probe(), CREDITS, must=["reply"])
    callbacks = bench.nfs4_session(back=True, answers_null=False).conn.callbacks
    callback = callbacks.wait()
    callbacks.answer(callback)
    expect.at_least(callback.header.credit, 1, CREDITS, "credits that are asked for")
"""
# A server that discards what it cannot decode, and one that ends over it.
DEFECTS = {
    "broken-list-disconnects": "fail: RFC8166-4.5.2-1: expected err-chunk, saw disconnect",
    "exits-on-broken-list": "crash: the server process ended with exit status 70",
}


@pytest.fixture(scope="module", params=DEFECTS)
def shrunk(request, tmp_path_factory):
    """(name of the defect, the recording, the shrunk one, what the command said)"""
    folder = tmp_path_factory.mktemp("shrink")
    recordings = run_cases(folder, CASES, "--deviate", request.param)
    path, out = recordings / "self.long.steertag", folder / "small.steertag"
    done = steertag("shrink", path, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    return request.param, path, out, done.stdout


def test_what_is_left_is_small(shrunk):
    _, path, out, _ = shrunk
    before, after = read(path), read(out)
    assert (after.verdict, after.reason) == (before.verdict, before.reason)
    posted = [step for step in after.steps if step.kind in ("connect", "memory", "send", "given")]
    assert [step.kind for step in posted] == ["connect", "send"]
    assert len(posted[1].fields["octets"]) < 100


def test_what_is_left_is_told(shrunk):
    name, path, out, said = shrunk
    assert f"self.long: {DEFECTS[name]}\n" in said
    assert f"{len(read(path).steps)} steps, now {len(read(out).steps)}, after " in said
    assert "connect must_open=True" in said and f"written to {out}\n" in said


def test_what_is_left_still_fails_and_a_conforming_server_passes(shrunk, tmp_path):
    _, _, out, _ = shrunk
    done = steertag("replay", out)
    assert done.returncode == 0, done.stdout + done.stderr
    with bundled(tmp_path) as url:
        done = steertag("replay", out, "--target", url)
    assert done.returncode == 1 and "replayed: pass\n" in done.stdout, done.stdout + done.stderr


def test_calls_of_the_target_are_kept_with_what_takes_them(tmp_path):
    recordings = run_cases(tmp_path, CALLBACK, "--deviate", "callback-asks-no-credit")
    path, out = recordings / "self.callback.steertag", tmp_path / "small.steertag"
    # Whole steps are left out first, octets later.
    done = steertag("shrink", path, "--out", out, "--runs", "60")
    assert done.returncode == 0, done.stdout + done.stderr
    steps = read(out).steps
    assert [step.kind for step in steps].count("connect") == 1, done.stdout
    came = [step.fields["octets"] for step in steps if step.kind == "received"]
    calls = [octets for octets in came if read_callback(Message(octets))]
    assert calls, done.stdout
    done = steertag("replay", out)
    assert done.returncode == 0, done.stdout + done.stderr


# Enough runs for all steps and some octets; the whole search takes minutes on a busy machine.
SOME_RUNS = 120
# What earlier candidates leave behind on a server: a client, and its reply to CREATE_SESSION.
SESSION = ("channel-size-raised", "server.nfs4.session.fore-few-operations")
# A server that fails before the case comes to its own steps.
UNPREPARED = ("session-in-records", "server.nfs4.binding.write-split-1")


@pytest.fixture(scope="module", params=[SESSION, UNPREPARED], ids=lambda pair: pair[0])
def nfs4_recording(request, tmp_path_factory):
    """(deviation, recording of a case of the suite that it makes fail)"""
    deviation, case_id = request.param
    return deviation, run_suite(tmp_path_factory.mktemp("run"), deviation, case_id)


def test_a_server_that_remembers_earlier_candidates(nfs4_recording, tmp_path):
    _, path = nfs4_recording
    out = tmp_path / "small.steertag"
    done = steertag("shrink", path, "--out", out, "--runs", SOME_RUNS)
    assert done.returncode == 0, done.stdout + done.stderr
    done = steertag("replay", out)
    assert done.returncode == 0, done.stdout + done.stderr
    with bundled(tmp_path) as url:
        done = steertag("replay", out, "--target", url)
    assert done.returncode == 1, done.stdout + done.stderr


def test_a_foreign_server_that_remembers_earlier_candidates(nfs4_recording, tmp_path):
    deviation, path = nfs4_recording
    out = tmp_path / "small.steertag"
    with bundled(tmp_path, "--deviate", deviation) as url:
        done = steertag("shrink", path, "--out", out, "--target", url, "--runs", SOME_RUNS)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(read(out).steps) <= len(read(path).steps)


def test_the_limit_of_runs_is_told(shrunk, tmp_path):
    _, path, _, _ = shrunk
    done = steertag("shrink", path, "--out", tmp_path / "out", "--runs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "after 2 runs\nthe search was ended early; --runs allows more" in done.stdout


def test_what_does_not_fail_is_not_shrunk(shrunk, tmp_path):
    _, path, _, _ = shrunk
    with bundled(tmp_path) as url:
        done = steertag("shrink", path, "--target", url)
    assert done.returncode == 2
    assert done.stderr == "steertag: nothing to shrink: played again it gives pass\n"


# -- the search alone --------------------------------------------------------------------------------


def recording_of(steps):
    case = {"id": "self.made", "requirements": ("RFC8166-4.5.1-1",)}
    return Recording(case, TargetOf(), "fail", "made up", "", [], steps)


def step(number, kind, subject="c0", **fields):
    return Step(number, kind, subject, fields)


def test_only_what_is_needed_stays():
    steps = [step(0, "connect")] + [step(number, "probe") for number in range(1, 40)]
    needed = {0, 7, 31}
    shrinker = Shrinker(
        recording_of(steps), lambda each: needed <= {one.number for one in each.steps}
    )
    assert shrinker.shrink()
    assert {one.number for one in shrinker.best.steps} == needed


def test_an_interrupted_search_keeps_what_it_found():
    runs = []

    def fails(each):
        runs.append(each)
        if len(runs) == 3:
            raise KeyboardInterrupt
        return any(one.kind == "connect" for one in each.steps)

    steps = [step(0, "connect")] + [step(number, "probe") for number in range(1, 40)]
    shrinker = Shrinker(recording_of(steps), fails)
    assert not shrinker.shrink()
    assert len(shrinker.best.steps) == 20


def test_steps_go_with_what_they_need():
    steps = [
        step(0, "connect", "c0"),
        step(1, "connect", "c1"),
        step(2, "memory", "m0", conn="c1"),
        step(3, "send", "c0", octets=b""),
        step(4, "received", "c0", octets=b""),
        step(5, "send", "c1", octets=b""),
        step(6, "invalidate", "m0"),
        step(7, "expect", "", conn="c0", seen=4),
        step(8, "check", "", conn="", seen=None),
        step(9, "send", "h0", octets=b""),
        step(10, "raw", "c0", arguments=["m0", 0]),
    ]
    assert [one.number for one in tidy(steps[1:])] == [1, 2, 5, 6, 8, 9]
    assert [one.number for one in tidy(steps[:1] + steps[2:])] == [0, 3, 4, 7, 8, 9]
    assert tidy(steps) == steps


def test_messages_lose_entries_and_words():
    draft = wire.Draft(xid=7, credit=32, payload=b"\1" * 40)
    draft.write_list = [wire.DraftChunk(segments=[wire.Segment(1, 2, 3), wire.Segment(4, 5, 6)])]
    octets = wire.encode(draft)
    forms = [form for _, form in smaller_draft(octets, 0)]
    assert wire.encode(dataclasses.replace(draft, write_list=[])) in forms
    one = wire.DraftChunk(segments=[wire.Segment(4, 5, 6)])
    assert wire.encode(dataclasses.replace(draft, write_list=[one])) in forms
    assert wire.encode(dataclasses.replace(draft, payload=b"")) in forms
    without_xid = wire.encode(dataclasses.replace(draft, xid=0))
    assert without_xid in [form for _, form in smaller_octets(octets, 0)]
    assert octets[: len(octets) // 2] in [form for _, form in smaller_octets(octets, 0)]


def test_the_listing_has_a_message_in_words():
    octets = wire.encode(wire.Draft(xid=7, credit=32))
    lines = list(listing([step(0, "connect"), step(1, "send", octets=octets)]))
    assert lines[0] == "   0 c0     connect"
    assert lines[1].startswith("   1 c0     send 28 octets")
    assert any("RDMA_MSG xid 0x00000007" in line for line in lines[2:])

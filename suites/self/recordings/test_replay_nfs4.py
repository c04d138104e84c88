"""Recordings of failures of NFS version 4.1: what the target gives out anew each time, and what a recall
has to do with it."""

import pytest
from steertag_command import bundled, run_suite, steertag

from steertag.replay.assigned_ids import assigned_ids
from steertag.replay.symbols import Symbols
from steertag.suite import ANY
from steertag.suite.nfs_client.compound import NFS4, CompoundReply

# Which defect of the server spoils which case, and how. Cases before it make that the numbers in stateids
# are others than those of a server that was just started.
BEFORE = ("server.reverse.null", "server.reverse.recall")
SPOILT = {
    "recall-names-other-stateid": ("server.reverse.sequence", "fail: RFC8881-20.9.3-1: not true"),
    "recall-without-referring-call": (
        "server.reverse.referring-call-unseen",
        "warn: RFC8881-2.10.6.3-1: the recall does not refer",
    ),
}


@pytest.fixture(scope="module", params=ANY)
def over(request):
    """The transport of a recording and of its replay."""
    return request.param


@pytest.fixture(scope="module")
def recordings(tmp_path_factory, over):
    """{deviation: recording of its case}"""
    return {
        deviation: run_suite(tmp_path_factory.mktemp("run"), deviation, *BEFORE, case_id, over=over)
        for deviation, (case_id, _) in SPOILT.items()
    }


@pytest.mark.parametrize("deviation", SPOILT)
def test_the_same_again_on_a_server_that_deviates(recordings, deviation):
    done = steertag("replay", recordings[deviation])
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"recorded: {SPOILT[deviation][1]}" in done.stdout


@pytest.mark.parametrize("deviation", SPOILT)
def test_a_conforming_server_passes(recordings, deviation, over, tmp_path):
    with bundled(tmp_path, over=over) as url:
        done = steertag("replay", recordings[deviation], "--target", url)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "replayed: pass\nanother verdict\n" in done.stdout


# -- what results give out -------------------------------------------------------------------------


def opened(client, state):
    """The CompoundReply to an OPEN, whose stateid is made of these two numbers."""
    other = client.to_bytes(8, "big") + state.to_bytes(4, "big")
    granted = NFS4.OpenOk(stateid=NFS4.StateId(seqid=1, other=other))
    result = NFS4.OpenResult(resok4=granted)
    return CompoundReply(NFS4.Status.NFS4_OK, "", [(NFS4.Opnum.OPEN, result)])


def test_a_stateid_is_known_as_a_whole():
    symbols = Symbols()
    symbols.results(opened(0x2A5A06CB00000007, 8), opened(0x7E01370500000005, 2))
    recorded = bytes.fromhex("00000001 2a5a06cb 00000007 00000008")
    assert symbols.in_octets(recorded) == bytes.fromhex("00000001 7e013705 00000005 00000002")
    assert symbols.in_octets(recorded[:8]) == recorded[:8]


def test_what_begins_alike_is_told_apart():
    symbols = Symbols()
    known = NFS4.ExchangeIdResult(resok4=NFS4.ExchangeIdOk(eir_clientid=0x2A5A06CB00000007))
    known_now = NFS4.ExchangeIdResult(resok4=NFS4.ExchangeIdOk(eir_clientid=0x7E01370500000005))
    both = [
        CompoundReply(NFS4.Status.NFS4_OK, "", [(NFS4.Opnum.EXCHANGE_ID, each)])
        for each in (known, known_now)
    ]
    symbols.results(opened(0x2A5A06CB00000007, 8), opened(0x7E01370500000005, 2))
    symbols.results(*both)
    recorded = bytes.fromhex("2a5a06cb 00000007 00000009 2a5a06cb 00000007 00000008")
    now = bytes.fromhex("7e013705 00000005 00000009 7e013705 00000005 00000002")
    assert symbols.in_octets(recorded) == now


def test_what_we_sent_over_tcp_before_is_ours():
    """The name of a server may hold a word of our credential, at another place in each run."""
    symbols = Symbols()
    credential = bytes.fromhex("00000008") + b"steertag"
    symbols.in_octets(credential)
    symbols.message(bytes(24) + credential, bytes(24) + b"another server", has_header=False)
    assert symbols.in_octets(credential) == credential


def test_a_special_stateid_stays():
    symbols = Symbols()
    symbols.results(opened(0, 0), opened(0x7E01370500000005, 2))
    assert symbols.in_octets(bytes(16)) == bytes(16)


def test_results_without_state_give_out_nothing():
    reply = CompoundReply(NFS4.Status.NFS4_OK, "", [(NFS4.Opnum.PUTROOTFH, None)])
    assert assigned_ids(reply) == {}

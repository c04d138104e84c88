"""A peer that is too broken for the first exchange gets its verdict: the requirement that it broke there."""

import contextlib
import functools
import os
import pathlib
import sys

import pytest

from steertag import mutate
from steertag.mutation.deviating_peer import list_deviations, PEERS
from steertag.suite.cases.case_end import EXCHANGES
from steertag.suite.client import unheeded_reply
from steertag.suite.client.client_session import ClientSession
from steertag.suite.run.case_session import Unreachable
from steertag.suite.run.server_session import ServerSession

from bent_client import null_call
from steertag_command import bundled
from suite_sessions import look_over, options_of
from third_party import third_party
from version_zero import VERSION_ZERO

BENT_CLIENT = pathlib.Path(__file__).parent / "bent_client.py"
# What a responder answers to a message that no client may send.
REFUSED = ("ERR_VERS", "ERR_CHUNK")
# With it, every deviation is tried; without it, one of so many, and those that break the first exchange.
EVERY = "STEERTAG_EVERY_DEVIATION"
FEW = 16
SHOWN = {"reply-mark-not-last"}
NO_REACTION = "the client went on with nothing behind the reply to its call"
CLIENT_CASE = """
    from steertag.suite import case, client_kinds, expect

    @case("client.self.one", requirements=["RFC8166-4.5.5-1"])
    def test_one(bench):
        expect(bench.use(), "RFC8166-4.5.5-1", must=[client_kinds.COMPLETED])
"""


def command_of(variant):
    """The command of a client whose every call is bent in this way."""
    return f"{sys.executable} {BENT_CLIENT} {variant} {{url}}"


def expect_verdict(suite, result, case_id, reason):
    """The run failed by its first contact alone, for this reason, with a digest and a trace."""
    text = result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED, text + result.stderr.str()
    document = suite.document()
    (row,) = document["cases"]
    assert (row["id"], row["verdict"]) == (case_id, "fail"), row
    assert row["reason"].startswith(reason), row["reason"]
    assert row["trace"] and document["partial"]
    assert "no case was run" in document["stopped"]
    assert "1 cause, 1 case: the " in text
    assert (suite.report / "captures" / f"{case_id}.pcapng").exists()
    assert "no case can run: " in (suite.report / "texts" / f"{case_id}.txt").read_text()


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
@pytest.mark.parametrize("is_bundled", [True, False])
def test_a_server_that_invalidates_what_is_not_its_own(suite, workers, is_bundled):
    suite.cases(test_version=VERSION_ZERO)
    defect = ("--deviate", "invalidates-foreign")
    if is_bundled:
        result = suite.run(*defect, *workers)
    else:
        with third_party(suite, *defect) as (port, _):
            result = suite.run("--target", f"iwarp://127.0.0.1:{port}/", *workers)
    reason = "RFC8166-3.3.3-1: expected reply, saw violation"
    expect_verdict(suite, result, "server.first-contact", reason)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_client_whose_every_call_has_version_two(suite, workers):
    suite.cases(test_client=CLIENT_CASE)
    result = suite.run("--client-command", command_of("version.2"), *workers)
    expect_verdict(suite, result, "client.first-contact", "RFC8166-4.2.2-1: ")


def one_variant_of_each_group():
    """Names of bent calls."""
    for group in mutate.GROUPS:
        refused = [
            each.name for each in mutate.generate(group, null_call()) if each.expectation in REFUSED
        ]
        yield from refused[:1]


@pytest.mark.parametrize("variant", one_variant_of_each_group())
def test_a_client_whose_every_call_is_bent(tmp_path, variant):
    options = options_of(tmp_path, client_command=command_of(variant))
    with pytest.raises(Unreachable) as end:
        ClientSession(options, "main").first_contact()
    assert end.value.record is not None, f"{variant}: {end.value}"
    assert end.value.record.findings and end.value.record.verdict == "fail"


@pytest.mark.parametrize(
    "silence_ns, reason", [(0, f"{EXCHANGES}: {NO_REACTION}"), (10**12, None)]
)
def test_a_client_that_does_nothing_behind_a_reply(tmp_path, monkeypatch, silence_ns, reason):
    monkeypatch.setattr(unheeded_reply, "SILENCE_NS", silence_ns)
    options = options_of(tmp_path, client_command=command_of("none"))
    with pytest.raises(Unreachable) as end:
        ClientSession(options, "main").first_contact()
    assert (end.value.record and end.value.record.reason) == reason


def test_a_client_whose_call_does_not_decode(tmp_path):
    options = options_of(tmp_path, client_command=command_of("no-arguments"))
    with pytest.raises(Unreachable) as end:
        ClientSession(options, "main").first_contact()
    assert end.value.record.reason == f"{EXCHANGES}: the arguments of a call do not decode"


def test_a_baseline_may_expect_it(suite):
    suite.cases(test_version=VERSION_ZERO)
    defect = ("--deviate", "invalidates-foreign")
    suite.run(*defect)
    (seen,) = suite.document()["cases"]
    rows = {key: seen[key] for key in ("verdict", "reason")}
    text = "\n".join(f"  {key}: {value!r}" for key, value in rows.items())
    requirement = seen["requirements"][0]
    (suite.pytester.path / "baseline.yaml").write_text(
        f"target: t\ndate: 2025-01-01\nrows:\n- case: {seen['id']}\n  requirement: {requirement}\n"
        f"{text}\n  note: known\n"
    )
    result = suite.run(*defect, "--baseline", "baseline.yaml")
    assert result.ret == pytest.ExitCode.INTERRUPTED, "as after a crash that is expected"


def names_of(role):
    """Deviations of our own peer: all if the environment says so, else a few and those that a contact shows."""
    names = sorted({each.name for each in list_deviations(PEERS[role].program)})
    return names if os.environ.get(EVERY) else sorted({*names[::FEW], *SHOWN & set(names)})


def unusable_ends(contacts):
    """{name: why} of peers that cannot be tested although they broke nothing. `contacts` gives names, and functions
    that meet the peer."""
    ends = {}
    for name, meet in contacts:
        try:
            meet()
        except Unreachable as end:
            if end.record is None:
                ends[name] = str(end)
            else:
                assert end.record.verdict in ("fail", "hang") and end.record.reason.startswith(
                    "RFC"
                )
    return ends


@pytest.mark.parametrize("over", ["rdma", "tcp"])
def test_no_deviation_of_the_bundled_server_makes_it_an_unusable_target(tmp_path, over):
    def meet(name):
        options = options_of(tmp_path, server_arguments=("--deviate", name), over=over)
        with contextlib.closing(ServerSession(options, "main")) as session:
            session.first_contact()

    names = names_of("server")
    assert not unusable_ends((name, functools.partial(meet, name)) for name in names)


@pytest.mark.parametrize("over", ["rdma", "tcp"])
def test_no_deviation_of_a_third_party_makes_it_an_unusable_target(tmp_path, over):
    def meet(name):
        with bundled(tmp_path, "--deviate", name, over=over) as url:
            look_over(tmp_path, url)

    names = names_of("server")
    assert not unusable_ends((name, functools.partial(meet, name)) for name in names)


@pytest.mark.parametrize("version", ["3", "4.1"])
def test_no_deviation_of_our_client_makes_it_an_unusable_target(tmp_path, version):
    def meet(name):
        nfs = {"client_deviations": (name,), "client_nfs": version, "client_timeout_s": 6.0}
        ClientSession(options_of(tmp_path, **nfs), "main").first_contact()

    names = names_of("client")
    assert not unusable_ends((name, functools.partial(meet, name)) for name in names)


def test_a_reply_without_an_end_over_tcp_is_a_verdict(tmp_path):
    options = options_of(tmp_path, server_arguments=("--deviate", *SHOWN), over="tcp")
    session = ServerSession(options, "main")
    with contextlib.closing(session), pytest.raises(Unreachable) as end:
        session.first_contact()
    assert end.value.record.reason == "RFC5531-9-1: expected reply, saw hang"

"""Needs: a run that lacks one says so and does not run the case, and every word has a use."""

import json
import pathlib
import subprocess
import sys
import types

import pytest

from steertag.suite.cases.case_end import NotTestable
from steertag.suite.cases.needs import check_need, IMPLIED, NEEDS

SERVER_CASES = pathlib.Path(__file__).parents[2] / "server"
NEEDY = """
    from steertag.suite import case, expect

    ID = "RFC8166-4.2.4-1"

    @case("self.null", requirements=[ID])
    def test_null(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), ID, must=["reply"])

    @case("self.multiple-read-chunks", requirements=[ID], needs=["multiple-read-chunks"])
    def test_multiple_read_chunks(bench):
        bench.not_testable("it was run")

    @case("self.large-inline", requirements=[ID], needs=["large-inline"])
    def test_large_inline(bench):
        bench.not_testable("it was run")

    @case("self.nfs41", requirements=[ID], needs=["nfs41"])
    def test_nfs41(bench):
        bench.not_testable("it was run")

    @case("self.backchannel", requirements=[ID], needs=["backchannel"])
    def test_backchannel(bench):
        bench.not_testable("it was run")

    @case("self.delegations", requirements=[ID], needs=["delegations"])
    def test_delegations(bench):
        bench.not_testable("it was run")

    @case("self.direct-access", requirements=[ID], needs=["direct-access"])
    def test_direct_access(bench):
        bench.not_testable("it was run")

    @case("self.pnfs-files", requirements=[ID], needs=["pnfs-files"])
    def test_pnfs_files(bench):
        bench.not_testable("it was run")

    @case("self.export", requirements=[ID])
    def test_export(bench):
        bench.root
        bench.not_testable("it was run")

    @case("self.nfs3", requirements=[ID])
    def test_nfs3(bench):
        bench.connect().nfs_call("GETATTR", object=bytes(32))
        bench.not_testable("it was run")
"""


def reasons(suite):
    """{case id: (verdict, reason)}"""
    return {row["id"]: (row["verdict"], row["reason"]) for row in suite.document()["cases"]}


DENIABLE = ["multiple-read-chunks", "large-inline", "export", "nfs3", "nfs41"]
DENIABLE += ["direct-access", "pnfs-files"]


@pytest.mark.parametrize("need", DENIABLE)
def test_what_the_profile_denies_is_unsupported(suite, need):
    suite.cases(test_needy=NEEDY)
    (suite.pytester.path / "profile.yaml").write_text(f"supports: {{{need}: false}}\n")
    result = suite.run("--profile", "profile.yaml", "-k", f"null or {need.replace('-', '_')}")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    sentence = f"needs {need}: the target's profile says that it is not there"
    found = reasons(suite)
    assert found[f"self.{need}"] == ("unsupported", sentence)
    assert found["self.null"] == ("pass", "")


def test_what_the_profile_claims_is_run(suite):
    suite.cases(test_needy=NEEDY)
    (suite.pytester.path / "profile.yaml").write_text("supports: {multiple-read-chunks: true}\n")
    suite.run("--profile", "profile.yaml", "-k", "null or multiple or large")
    ran = ("not-testable", "it was run")
    found = reasons(suite)
    assert found["self.multiple-read-chunks"] == ran and found["self.large-inline"] == ran


def test_small_announcements_are_no_large_inline(suite):
    suite.cases(test_needy=NEEDY)
    suite.run("--deviate", "announces-little", "-k", "null or large")
    sentence = "needs large-inline: the target announces no thresholds above 1024 octets"
    assert reasons(suite)["self.large-inline"] == ("unsupported", sentence)


def test_a_target_without_version_4_is_asked_and_says_so(suite):
    suite.cases(test_needy=NEEDY)
    suite.run("--deviate", "lacks-version-4", "-k", "null or nfs41 or backchannel or delegations")
    answer = "the target answers EXCHANGE_ID of minor version 1 with rpc:PROG_MISMATCH"
    found = reasons(suite)
    for need in ("nfs41", "backchannel", "delegations"):
        assert found[f"self.{need}"] == ("unsupported", f"needs nfs41: {answer}")
    assert found["self.null"] == ("pass", "")


def test_a_target_without_direct_access_is_asked_and_says_so(suite):
    suite.cases(test_needy=NEEDY)
    suite.run("--deviate", "lacks-direct-access", "-k", "null or direct_access")
    sentence = "needs direct-access: the target answers NULL of direct access with rpc:PROG_UNAVAIL"
    assert reasons(suite)["self.direct-access"] == ("unsupported", sentence)


def test_what_a_denied_need_is_for_is_denied_too(suite):
    suite.cases(test_needy=NEEDY)
    (suite.pytester.path / "profile.yaml").write_text("supports: {nfs41: false}\n")
    suite.run("--profile", "profile.yaml", "-k", "null or delegations")
    sentence = "needs nfs41: the target's profile says that it is not there"
    assert reasons(suite)["self.delegations"] == ("unsupported", sentence)


def test_a_word_that_is_no_need_is_refused(suite):
    suite.cases(test_needy=NEEDY)
    (suite.pytester.path / "profile.yaml").write_text("supports: {many-read-chunks: false}\n")
    result = suite.run("--profile", "profile.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: profile profile.yaml: supports: unknown need 'many-read-chunks'; known: nfs3, *"]
    )


def test_every_need_has_a_case():
    program = (
        "import json; from steertag.suite.cases.collection import collect\n"
        f"found = collect([{str(SERVER_CASES)!r}])\n"
        "print(json.dumps(sorted({need for case in found for need in case.needs})))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {*json.loads(done.stdout), *IMPLIED} == set(NEEDS)


@pytest.mark.parametrize("any_region, windows", [(True, True), (False, True), (False, False)])
def test_memory_can_be_closed_by_either_means(any_region, windows):
    can = types.SimpleNamespace(remote_invalidation=any_region, windows=windows)
    link = types.SimpleNamespace(provider=types.SimpleNamespace(capabilities=can))
    if any_region or windows:
        check_need("remote-invalidation", None, link)
    else:
        with pytest.raises(NotTestable):
            check_need("remote-invalidation", None, link)

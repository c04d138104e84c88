"""What `expect` makes of outcomes and values: the verdict, and a reason that stays the same."""

import dataclasses

import pytest

from steertag.suite import case, expect
from steertag.suite.cases.case_end import Failed, HarnessError, Hung
from steertag.suite.cases.case_run import Run, running
from steertag.verdict import Verdict

MUST = "RFC8166-4.5.1-1"
SHOULD = "RFC8166-4.5.2-5"
MAY = "RFC8166-4.2.1-2"


@dataclasses.dataclass
class SeenOutcome:
    kind: str
    detail: str = "the 3rd octet is wrong"

    def trace(self, requirement_id=""):
        return f"trace of 2 events, {requirement_id} broken"


@pytest.fixture
def run():
    @case("self.expectation", requirements=[MUST, SHOULD, MAY])
    def example():
        pass

    made = example.pytestmark[0].args[0]
    with running(Run(made, made.id)) as current:
        yield current


def test_a_kind_that_obeys_passes(run):
    assert expect(SeenOutcome("err-vers"), MUST, must=["err-vers"]).kind == "err-vers"
    assert (run.verdict, run.reason) == (Verdict.PASS, "")


def test_an_unlisted_kind_fails_with_a_stable_reason_and_the_whole_story(run):
    with pytest.raises(Failed) as failure:
        expect(SeenOutcome("err-chunk"), MUST, must=["err-vers"])
    assert failure.value.reason == f"{MUST}: expected err-vers, saw err-chunk"
    for part in ("RFC 8166 section 4.5.1 (MUST)", "the 3rd octet is wrong", "trace of 2 events"):
        assert part in failure.value.detail


def test_an_unlisted_hang_is_a_hang(run):
    with pytest.raises(Hung) as hang:
        expect(SeenOutcome("hang"), MUST, must=["err-vers"])
    assert hang.value.verdict is Verdict.HANG


def test_a_hang_is_no_mere_warning_of_a_should(run):
    with pytest.raises(Hung):
        expect(SeenOutcome("hang"), SHOULD, should=["rpc:GARBAGE_ARGS"])


def test_latitude_tells_the_variant(run):
    expect(SeenOutcome("reply"), MUST, must=["err-vers"], latitude={"reply": "it is lenient"})
    assert (run.verdict, run.reason) == (Verdict.LATITUDE, f"{MUST}: reply: it is lenient")


def test_a_listed_warning_passes_on(run):
    expect(SeenOutcome("silence"), MUST, must=["err-vers"], warn={"silence": "known habit"})
    reason = f"{MUST}: expected err-vers, saw silence (known habit)"
    assert (run.verdict, run.reason) == (Verdict.WARN, reason)


def test_should_alone_warns_about_every_other_kind(run):
    expect(SeenOutcome("err-chunk"), SHOULD, should=["rpc:GARBAGE_ARGS"])
    reason = f"{SHOULD}: should be rpc:GARBAGE_ARGS, saw err-chunk"
    assert (run.verdict, run.reason) == (Verdict.WARN, reason)


def test_should_within_must(run):
    kinds = {"should": ["rpc:GARBAGE_ARGS"], "must": ["rpc:GARBAGE_ARGS", "err-chunk"]}
    expect(SeenOutcome("err-chunk"), SHOULD, **kinds)
    assert run.verdict is Verdict.WARN
    with pytest.raises(Failed):
        expect(SeenOutcome("reply"), SHOULD, **kinds)


@pytest.mark.parametrize(
    "requirement_id, verdict", [(SHOULD, Verdict.WARN), (MAY, Verdict.LATITUDE)]
)
def test_a_broken_value_gets_the_verdict_of_the_level(run, requirement_id, verdict):
    expect.equal(2, 1, requirement_id, "lowest version")
    reason = f"{requirement_id}: lowest version: expected 1, saw 2"
    assert (run.verdict, run.reason) == (verdict, reason)


def test_a_broken_must_value_fails(run):
    with pytest.raises(Failed, match="lowest version: expected 1, saw 2"):
        expect.equal(2, 1, MUST, "lowest version")


def test_hidden_values_stay_out_of_the_reason(run):
    with pytest.raises(Failed) as failure:
        expect.equal(0x1234, 0x9876, MUST, "rdma_xid", show=False)
    assert failure.value.reason == f"{MUST}: rdma_xid differs"
    assert str(0x1234) in failure.value.detail


def test_data_tells_the_first_octet_that_differs(run):
    with pytest.raises(Failed) as failure:
        expect.data(b"abcX", b"abcd", MUST, "data read")
    assert failure.value.reason == f"{MUST}: data read: expected 4 octets, other content"
    assert "first difference at octet 3" in failure.value.detail


def test_bounds_and_sets(run):
    expect.at_least(1, 1, MUST, "grant")
    expect.at_most(1, 1, MUST, "grant")
    expect.one_of("b", "ab", MUST, "letter")
    for broken in (
        lambda: expect.at_least(0, 1, MUST, "grant"),
        lambda: expect.at_most(2, 1, MUST, "grant"),
        lambda: expect.one_of("c", ["a", "b"], MUST, "letter"),
        lambda: expect.true(False, MUST, "the sky is blue"),
    ):
        with pytest.raises(Failed):
            broken()


def test_an_undeclared_requirement_is_the_harness_fault(run):
    with pytest.raises(HarnessError, match="RFC8166-4.5-1, which its decorator does not declare"):
        expect(SeenOutcome("reply"), "RFC8166-4.5" + "-1", must=["reply"])


def test_outside_of_a_case_nothing_can_be_judged():
    with pytest.raises(HarnessError, match="outside of a case"):
        expect(SeenOutcome("reply"), MUST, must=["reply"])


def test_the_worst_note_is_the_verdict(run):
    run.note(Verdict.WARN, "b")
    run.note(Verdict.LATITUDE, "c")
    run.note(Verdict.WARN, "a")
    assert (run.verdict, run.reason) == (Verdict.WARN, "a; b")

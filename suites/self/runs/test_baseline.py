"""`--baseline`: a run passes if, and only if, every case is as the baseline says; with and without workers."""

import pytest
import yaml

CASES = """
    from steertag.suite import case, expect

    MUST, SHOULD = "RFC8166-4.5.1-1", "RFC8166-4.5.2-5"

    @case("self.pass", requirements=[MUST])
    def test_pass(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), MUST, must=["reply"])

    @case("self.fail", requirements=[MUST])
    def test_fail(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), MUST, must=["err-vers"])

    @case("self.warn", requirements=[SHOULD])
    def test_warn(bench):
        expect.equal(1, 2, SHOULD, "number")

    @case("self.unsupported", requirements=[MUST])
    def test_unsupported(bench):
        bench.unsupported("the target says so")
"""
FAIL = {
    "case": "self.fail",
    "verdict": "fail",
    "requirement": "RFC8166-4.5.1-1",
    "reason": "RFC8166-4.5.1-1: expected err-vers, saw reply",
    "note": "answers",
}
WARN = {
    "case": "self.warn",
    "verdict": "warn",
    "requirement": "RFC8166-4.5.2-5",
    "reason": "RFC8166-4.5.2-5: number: expected 2, saw 1",
    "note": "counts",
}
UNSUPPORTED = {
    "case": "self.unsupported",
    "verdict": "unsupported",
    "requirement": "RFC8166-4.5.1-1",
    "reason": "the target says so",
    "note": "has none",
}
ROWS = [FAIL, WARN, UNSUPPORTED]


@pytest.fixture
def run(suite):
    """Runs the four cases with a baseline of these rows; pytest's result."""

    def run(rows, *arguments, target="mine", **changes):
        suite.cases(test_it=changes.get("cases", CASES))
        path = suite.pytester.path / "baseline.yaml"
        path.write_text(yaml.safe_dump({"target": target, "date": "2025-01-01", "rows": rows}))
        return suite.run("--baseline", "baseline.yaml", *arguments)

    return run


def differences(result):
    """The last line of the table."""
    return next(line for line in result.outlines if line.startswith("baseline: "))


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_run_as_expected_passes(run, suite, workers):
    result = run(ROWS, *workers, "--strict-verdicts")
    assert result.ret == 0, result.stdout.str()
    result.assert_outcomes(passed=1, xfailed=2, skipped=1)
    assert differences(result) == "baseline: matches"
    assert suite.verdicts()["self.fail"] == "fail", "the report says what was seen"


DIFFERENCES = [
    ([WARN, UNSUPPORTED], "1 difference (1 new failure)", 1),
    ([*ROWS, FAIL | {"case": "self.pass"}], "1 difference (1 stale row)", 1),
    ([*ROWS, FAIL | {"case": "self.gone"}], "1 difference (1 stale row)", 0),
    ([FAIL, WARN], "1 difference (1 unlisted)", 1),
    ([FAIL, UNSUPPORTED], "1 difference (1 unlisted)", 1),
    ([FAIL | {"reason": "else"}, WARN, UNSUPPORTED], "1 difference (1 other reason)", 1),
    ([FAIL | {"verdict": "hang"}, WARN, UNSUPPORTED], "1 difference (1 other verdict)", 1),
    (
        [FAIL | {"requirement": "RFC8166-4.2.1-1"}, WARN, UNSUPPORTED],
        "1 difference (1 other requirement)",
        1,
    ),
]


@pytest.mark.parametrize(
    "workers, rows, summary, failed",
    [((), *each) for each in DIFFERENCES] + [(("-n", "2"), *each) for each in DIFFERENCES[:3]],
)
def test_each_difference_fails_the_run(run, workers, rows, summary, failed):
    result = run(rows, *workers, "-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED, result.stdout.str()
    assert differences(result) == f"baseline: {summary}"
    assert result.parseoutcomes().get("failed", 0) == failed
    if failed:
        result.stdout.fnmatch_lines(["*, by the baseline"])


def test_the_table_shows_both_sides_and_what_to_do(run):
    result = run([FAIL | {"reason": "else"}, WARN, UNSUPPORTED])
    result.stdout.fnmatch_lines(
        [
            "other reason *self.fail",
            "*expected  fail: else",
            "*seen      fail: RFC8166-4.5.1-1: expected err-vers, saw reply",
            "*`steertag baseline update --from * baseline.yaml` has the file say what was seen",
        ]
    )


@pytest.mark.parametrize(
    "part", ["-k fail", "-k fail -n 2", "test_it.py", "--deselect test_it.py::test_pass -n 2"]
)
def test_a_part_of_the_suite_leaves_other_rows_alone(run, suite, part):
    result = run([*ROWS, FAIL | {"case": "self.gone"}], *part.split())
    assert result.ret == 0, result.stdout.str()
    result.stdout.fnmatch_lines(["* rows are of cases that were not selected, and not compared"])
    assert suite.document()["partial"] is True


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_run_that_ended_early_says_nothing_on_the_rest(run, suite, workers):
    gone = FAIL | {"case": "self.gone"}
    result = run([WARN, UNSUPPORTED, gone], "--maxfail=1", *workers)
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    assert differences(result) == "baseline: 1 difference (1 new failure)"
    assert suite.document()["partial"] is True, "an update by this report removes no row"


def test_a_whole_run_is_not_partial(run, suite):
    run(ROWS)
    assert "partial" not in suite.document()


def test_a_harness_error_is_never_expected(run):
    cases = CASES + "\n    def helper(): pass\n"
    cases = cases.replace('expect.equal(1, 2, SHOULD, "number")', "assert 1 == 2")
    result = run(ROWS, cases=cases)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert differences(result) == "baseline: 1 difference (1 other verdict)"


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--baseline", "none.yaml"], "*there is no baseline none.yaml*"),
        (["--baseline", ""], "*--baseline is empty*"),
        (["--baseline", "bad.yaml"], "*bad.yaml is not a baseline*"),
        (["--baseline", "torn.yaml"], "*torn.yaml, line 3: not YAML: *"),
        (["--baseline", "odd.yaml"], "*odd.yaml, row 1 (self.fail): there is no verdict 'no'; *"),
        (["--baseline", "baseline.yaml", "--profile", "p.yaml"], "*of mine, not of theirs*"),
    ],
)
def test_what_cannot_be_compared_is_an_error_of_usage(run, suite, arguments, sentence):
    odd = yaml.safe_dump({"target": "mine", "rows": [FAIL | {"verdict": "no"}]})
    (suite.pytester.path / "bad.yaml").write_text("- 1\n")
    (suite.pytester.path / "torn.yaml").write_text("target: mine\nrows: [\n")
    (suite.pytester.path / "odd.yaml").write_text(odd)
    (suite.pytester.path / "p.yaml").write_text("name: theirs\n")
    result = run(ROWS, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([sentence])


def test_the_report_names_the_target_of_the_profile(run, suite):
    (suite.pytester.path / "p.yaml").write_text("name: mine\n")
    assert run(ROWS, "--profile", "p.yaml").ret == 0
    assert suite.document()["name"] == "mine"


def test_an_improvement_keeps_its_capture(run, suite):
    run([*ROWS, FAIL | {"case": "self.pass"}])
    cases = {each["id"]: each for each in suite.document()["cases"]}
    assert cases["self.pass"]["baseline"] == "different"
    assert cases["self.fail"]["baseline"] == "expected"
    assert cases["self.pass"]["capture"] == "captures/self.pass.pcapng"
    assert (suite.report / "captures/self.pass.pcapng").is_file()
    run(ROWS)
    assert not (suite.report / "captures/self.pass.pcapng").exists()

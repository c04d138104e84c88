"""The page that a run leaves beside its report, and what both know of the run."""

import base64
import datetime
import json
import re
import zlib

CASES = """
    from steertag.suite import case, expect

    VERSION, CREDIT = "RFC8166-4.5.1-1", "RFC8166-3.3.1-5"

    @case("self.fails", requirements=[VERSION, CREDIT])
    def test_fails(bench):
        '''The case fails. This sentence is one too many.'''
        conn = bench.connect()
        outcome = conn.exchange(conn.null_call())
        expect.equal(1, 2, CREDIT, "number", outcome=outcome)
        expect(outcome, VERSION, must=["err-vers"])

    @case("self.passes", requirements=[VERSION])
    def test_passes(bench):
        '''The case passes.'''
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), VERSION, must=["reply"])
"""


def content_of(path):
    packed = re.search(r'<script id="content"[^>]*>([^<]+)</script>', path.read_text())[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def test_a_run_leaves_a_page_with_the_cases_of_its_report(suite):
    suite.cases(test_a=CASES)
    suite.run("-n", "2")
    content = content_of(suite.report / "index.html")
    found = {each["id"]: (each["verdict"], each["sentence"]) for each in content["cases"]}
    assert found == {
        "self.fails": ("fail", "The case fails."),
        "self.passes": ("pass", "The case passes."),
    }
    (cause,) = content["causes"]
    (case,) = [each for each in content["cases"] if each["id"] == "self.fails"]
    assert content["cases"][cause["example"]] == case
    paths = [suite.report / path for _, path in case["files"]]
    assert len(paths) == 3 and all(path.is_file() for path in paths)
    numbers = [(line["connection"], line["number"]) for line in case["trace"]]
    assert numbers and len(set(numbers)) == len(numbers), "a line is there once"


def test_the_report_says_when_where_and_how_it_was_made(suite):
    suite.cases(test_a=CASES)
    before = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    suite.run("--case", "self.passes", "--seed", "5")
    document = suite.document()
    run = document["run"]
    started = datetime.datetime.fromisoformat(run["started"])
    assert before <= started <= datetime.datetime.now(datetime.timezone.utc)
    assert run["seconds"] > 0 and run["seed"] == 5 and run["host"] and run["system"]
    assert run["command"].endswith("--case self.passes --seed 5")
    assert run["versions"]["steertag"] == document["steertag"]
    assert set(run["versions"]) == {"steertag", "pytest", "python"}


def test_a_page_that_cannot_be_written_is_a_problem_of_the_run(suite):
    suite.cases(test_a=CASES)
    (suite.report / "index.html").mkdir(parents=True)
    done = suite.run("--case", "self.passes")
    assert done.ret == 1
    done.stdout.fnmatch_lines("*ERROR: report directory *: Is a directory")
    assert suite.verdicts() == {"self.passes": "pass"}

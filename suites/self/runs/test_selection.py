"""Cases are selected by what they assert and by their topic."""

import pytest

TWO = """
    from steertag.suite import case

    @case("self.good.null", requirements=["RFC8166-4-2"])
    def test_null(bench):
        pass

    @case("self.bad.version", requirements=["RFC8166-4.5.1-1"])
    def test_version(bench):
        pass

    def test_no_case():
        pass
"""


@pytest.mark.parametrize(
    "options, selected",
    [
        (["--requirement", "rfc8166-4.5.1-1"], ["self.bad.version"]),
        (["--section", "RFC8166-4.5"], ["self.bad.version"]),
        (["--section", "RFC8166-4"], ["self.bad.version", "self.good.null"]),
        (["--topic", "good"], ["self.good.null"]),
        (["--topic", "good", "--section", "RFC8166-4.5"], []),
    ],
)
def test_cases_are_selected_by_what_they_assert(suite, options, selected):
    suite.cases(test_two=TWO)
    result = suite.run(*options, "--collect-only", "-q")
    collected = [line for line in result.outlines if "::" in line]
    names = {
        "self.good.null": "test_two.py::test_null",
        "self.bad.version": "test_two.py::test_version",
    }
    assert sorted(collected) == sorted(names[each] for each in selected)


def test_a_topic_that_no_case_has_gets_the_nearest(suite):
    suite.cases(test_two=TWO)
    result = suite.run("--topic", "goood")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --topic goood: no case here is about it; did you mean good?"]
    )

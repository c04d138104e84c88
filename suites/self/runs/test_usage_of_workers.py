"""What is wrong with a command line ends the run in the same way with one process and with several."""

import pytest

from steertag.report_page.run_metadata import TYPED_COMMAND

CASE = """
    from steertag.suite import case

    @case("self.good.null", requirements=["RFC8166-4-2"])
    def test_null(bench):
        pass
"""


@pytest.mark.parametrize(
    "option, word, sentence",
    [
        ("--topic", "goood", "--topic goood: no case here is about it; did you mean good?"),
        ("--section", "RFC8166-44", "RFC8166-44 is no section or document of the ledger*"),
        ("--case", "self.god.null", "*no case here has this id; did you mean self.good.null?"),
        ("--deviate", "grants-zer", "*ended at once, exit status 2: *'grants-zer'*"),
    ],
)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_word_that_names_nothing_is_one_sentence(suite, workers, option, word, sentence):
    suite.cases(test_it=CASE)
    result = suite.run(option, word, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR, result.stdout.str()
    result.stderr.fnmatch_lines([f"ERROR: {sentence}"])
    assert "INTERNALERROR" not in result.stdout.str()


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_an_option_for_clients_is_refused_where_only_servers_are_tested(suite, workers):
    suite.cases(test_it=CASE)
    result = suite.run("--client-deviate", "call-msgp", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR, result.stdout.str()
    result.stderr.fnmatch_lines(
        ["ERROR: --client-deviate is for cases for clients, and this run has none"]
    )


@pytest.mark.parametrize(
    "typed, program", [("", "pytest"), ("steertag test bundled --no-such", "steertag test")]
)
def test_an_unknown_option_is_refused_by_the_name_of_what_was_typed(
    suite, monkeypatch, typed, program
):
    suite.cases(test_it=CASE)
    monkeypatch.setenv(TYPED_COMMAND, typed)
    result = suite.run("--no-such")
    assert result.ret == pytest.ExitCode.USAGE_ERROR, result.stdout.str()
    result.stderr.fnmatch_lines(
        [f"ERROR: usage: {program} [[]*", f"{program}: error: unrecognized arguments: --no-such"]
    )

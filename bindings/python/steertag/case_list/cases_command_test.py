"""`steertag cases` and the selection of cases."""

import pytest

from steertag import cli
from steertag.case_list import case_selection, kept_list
from steertag.case_list.case_entry import CaseEntry

CASES = {
    "server.header.version-zero": ("RFC8166-4.5.1-1", "RFC8166-4.5-2"),
    "server.credit.first-call": ("RFC8166-3.3.1-5",),
    "client.header.plain.version-two": ("RFC8166-4.5-3",),
}


@pytest.fixture
def listed(monkeypatch, capsys):
    """Runs `steertag cases` on CASES: its exit status, the ids that it prints, its errors."""
    entries = [
        CaseEntry(case_id, ids, (), "safe", (), "", summary=f"What {case_id} does. And more.")
        for case_id, ids in sorted(CASES.items())
    ]
    monkeypatch.setattr(kept_list, "case_list", lambda paths=(): entries)

    def run(*arguments):
        status = cli.main(["cases", *arguments])
        told = capsys.readouterr()
        return status, [line.split()[0] for line in told.out.splitlines()], told.err

    return run


@pytest.mark.parametrize(
    "arguments, found",
    [
        ([], sorted(CASES)),
        (["--topic", "header"], ["client.header.plain.version-two", "server.header.version-zero"]),
        (["--topic", "SERVER.header"], ["server.header.version-zero"]),
        (["--section", "rfc8166-4.5.1"], ["server.header.version-zero"]),
        (["--section", "RFC 8166 section 3"], ["server.credit.first-call"]),
        (["--section", "RFC8166"], sorted(CASES)),
        (["--requirement", "rfc8166-3.3.1-5"], ["server.credit.first-call"]),
        (
            ["--section", "RFC8166-4.5", "--topic", "client.header"],
            ["client.header.plain.version-two"],
        ),
        (
            ["--topic", "credit", "--topic", "client.header"],
            ["client.header.plain.version-two", "server.credit.first-call"],
        ),
    ],
)
def test_options_select(listed, arguments, found):
    assert listed(*arguments, "--ids") == (0, found, "")


def test_sections_are_not_prefixes_of_text():
    """4.1 is no part of 4.10, and a subsection without rows of its own is none of 4.5."""
    selection = case_selection.selection_of(CASES, sections=["RFC8166-4.1"])
    assert selection.takes("x.y", ["RFC8166-4.1.2-9"])
    assert not selection.takes("x.y", ["RFC8166-4.5-2"])


def test_nothing_asked_for_is_there(listed):
    assert listed("--topic", "credit", "--section", "RFC8166-4.5") == (1, [], "")


@pytest.mark.parametrize(
    "arguments, error",
    [
        (["--topic", "heder"], "--topic heder: no case here is about it; did you mean header?"),
        (
            ["--requirement", "RFC8166-4.5.1-9"],
            "RFC8166-4.5.1-9 is not in the ledger; did you mean",
        ),
        (["--section", "RFC8166-4.99"], "RFC8166-4.99 is no section or document of the ledger"),
        (["--section", "nonsense"], "nonsense is no section or document of the ledger"),
    ],
)
def test_a_word_that_names_nothing_gets_the_nearest(listed, arguments, error):
    status, found, told = listed(*arguments)
    assert (status, found) == (2, [])
    assert told.startswith(f"steertag: {error}")


def test_a_line_has_id_sentence_and_requirements(listed, capsys):
    cli.main(["cases", "--topic", "credit"])
    line = capsys.readouterr().out
    assert line.split(None, 1) == [
        "server.credit.first-call",
        "What server.credit.first-call does. (RFC8166-3.3.1-5)\n",
    ]

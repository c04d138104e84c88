"""The man pages and completions in docs/ are those of the commands as they are."""

import pytest

from ci.jobs.manual import manual_files

RENEW = "renew them with ci/manual, and look at what has changed"


@pytest.fixture(scope="module")
def made():
    return manual_files.manual_files()


def test_there_is_a_file_of_each_command_and_shell_and_no_other(made):
    there = {*manual_files.MAN.iterdir(), *manual_files.COMPLETION.iterdir()}
    assert there == made.keys(), RENEW


def test_no_file_is_stale(made):
    stale = [str(path) for path, text in made.items() if path.read_text() != text]
    assert not stale, RENEW


def test_a_page_has_the_exit_statuses_and_no_path_of_this_machine(made):
    pages = {path.name: text for path, text in made.items() if path.suffix == ".1"}
    assert "target that cannot be tested" in pages["steertag-test.1"]
    for name, text in pages.items():
        assert "exit status" in text.lower() or name in ("steertag.1", "steertag-serve.1"), name
        assert str(manual_files.PROJECT) not in text

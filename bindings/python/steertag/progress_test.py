"""Bars and notes, on a terminal and elsewhere."""

import io

import pytest

from steertag import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_results_are_the_same_with_a_bar(monkeypatch, stream):
    monkeypatch.setattr("sys.stderr", stream())
    assert progress.counted(iter([1, 2, 3]), 3, "numbers") == [1, 2, 3]


def test_a_note_is_for_a_terminal_and_leaves_nothing(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    with progress.note("some words"):
        assert shown.getvalue() == "some words"
    assert shown.getvalue().endswith("\r          \r")
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with progress.note("some words"):
        pass
    import sys

    assert sys.stderr.getvalue() == ""

"""The engine's examples: the one in Python prints what the one in C++ does, and docs/engine.md has both as they are."""

import pathlib
import subprocess
import sys
import textwrap

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "engine.md"
MOST_LINES = 60
LIMIT_S = 60


def text_of(name):
    return (HERE / name).read_text()


def test_the_example_in_python_prints_what_is_kept():
    """`ci/check package` compares the one in C++."""
    command = [sys.executable, str(HERE / "judge_reply.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.stderr, done.stdout) == ("", text_of("judge_reply.txt"))


@pytest.mark.parametrize("name", ["judge_reply.cpp", "judge_reply.py", "judge_reply.txt"])
def test_the_page_has_the_file_whole(name):
    text = text_of(name)
    assert f"\n{textwrap.indent(text, '    ')}\n" in PAGE.read_text(), f"copy {name} into {PAGE}"
    assert len(text.splitlines()) <= MOST_LINES

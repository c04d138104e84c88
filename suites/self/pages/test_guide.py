"""The commands of the pages print what the pages show. docs/contributing/checks.md says how a page is written."""

import doctest
import pathlib

import page_consoles
import pytest

PROJECT = page_consoles.PROJECT
GUIDE = sorted((PROJECT / "docs" / "guide").glob("*.md"))
PAGES = [PROJECT / "README.md", *sorted(PROJECT.glob("docs/**/*.md"))]
WITH_COMMANDS = [page for page in PAGES if page_consoles.commands(page.read_text("utf-8"))]
PYTHON = PROJECT / "docs" / "python.md"
DEVICES = pathlib.Path("/sys/class/infiniband")


def name_of(page):
    return str(page.relative_to(PROJECT))


@pytest.mark.parametrize("page", GUIDE, ids=name_of)
def test_a_page_of_the_guide_has_a_command_that_is_run(page):
    assert page in WITH_COMMANDS


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_the_commands_print_what_the_page_shows(page, tmp_path):
    if page.stem == "hardware" and DEVICES.exists() and any(DEVICES.iterdir()):
        pytest.skip("the page shows a machine without an RDMA device")
    found = page_consoles.commands(page.read_text("utf-8"))
    outputs = page_consoles.run(found, tmp_path)
    for command, seen in zip(found, outputs, strict=True):
        missed = page_consoles.difference(command.output, seen)
        where = f"{name_of(page)}:{command.line}: $ {command.text}"
        assert missed is None, "\n".join([where, f"differs at: {missed}", "printed:", *seen])


def test_the_examples_of_python_print_what_the_page_shows(monkeypatch):
    monkeypatch.chdir(PROJECT)
    failed, tried = doctest.testfile(
        str(PYTHON), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried and not failed


PAGE = """\
    $ echo a; echo 0x17 done in 1.50 s
    a
    0x18 done in 2.75 s
    $ (exit 3)
    $ echo $?; echo; echo b
    3

    b

Text.

    echo no command
"""


def test_a_page_is_run_in_order(tmp_path):
    found = page_consoles.commands(PAGE)
    assert [command.text for command in found] == [
        "echo a; echo 0x17 done in 1.50 s",
        "(exit 3)",
        "echo $?; echo; echo b",
    ]
    outputs = page_consoles.run(found, tmp_path)
    assert outputs == [["a", "0x17 done in 1.50 s"], [], ["3", "", "b"]]
    assert [page_consoles.difference(c.output, o) for c, o in zip(found, outputs)] == [None] * 3


def test_a_command_in_the_background_ends_with_the_page(tmp_path):
    text = (
        "    $ bash -c 'echo ready; exec sleep infinity' &\n    ready\n    $ echo next\n    next\n"
    )
    found = page_consoles.commands(text)
    assert page_consoles.run(found, tmp_path) == [["ready"], ["next"]]


@pytest.mark.parametrize(
    "expected, seen, missed",
    [
        (["a", "..."], ["a", "b"], None),
        (["...", "b"], ["a", "b"], None),
        (["...", "b"], ["a", "b", "c"], "c"),
        (["a ... c"], ["a b c"], None),
        (["a"], ["b"], "a"),
        (["a"], [], "a"),
        ([], ["a"], "a"),
        (["8 passed"], ["9 passed"], "8 passed"),
        (["= 1,593 failed in 9.50s ="], ["=== 1594 failed in 10.25s ==="], None),
        (["RFC 8166 3.3.1"], ["RFC 8167 3.3.1"], "RFC 8166 3.3.1"),
        (["RFC8166-3.3.1-5"], ["RFC8166-3.3.2-5"], "RFC8166-3.3.1-5"),
    ],
)
def test_what_differs_is_named(expected, seen, missed):
    assert page_consoles.difference(expected, seen) == missed

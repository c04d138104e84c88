"""The command line as a whole: its list, its mistakes, closed pipes, one version."""

import os
import re
import subprocess
import sys

import pytest

import steertag
from steertag import build_paths, cli, suite_commands

LIMIT_S = 120


def run(*arguments, **how):
    command = [sys.executable, "-m", "steertag", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, **how)


def test_no_arguments_print_the_list_of_commands():
    done = run()
    assert done.returncode == 0
    for name in ("test-client", "grade", "explain"):
        assert re.search(rf"^    {name}\b", done.stdout, re.MULTILINE)


def test_a_mistyped_command_gets_the_nearest(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["grde"])
    assert ended.value.code == 2
    assert "no command 'grde'; did you mean grade?" in capsys.readouterr().err


def commands_of(parser):
    (commands,) = [each for each in parser._actions if isinstance(each.choices, dict)]
    return commands.choices


@pytest.mark.parametrize("names", cli.ADDERS.values(), ids=" ".join)
def test_each_command_has_the_same_parser_alone_and_among_all(names):
    everything = commands_of(cli.parser())
    for name in names:
        alone = commands_of(cli.parser(name))
        assert tuple(alone) == names
        assert alone[name].format_help() == everything[name].format_help()


def test_the_table_has_every_command():
    assert list(commands_of(cli.parser())) == [
        each for names in cli.ADDERS.values() for each in names
    ]


def test_the_version_is_that_of_every_part():
    root = build_paths.checkout()
    assert run("--version").stdout == run("version").stdout == f"steertag {steertag.__version__}\n"
    changes = re.findall(r"^## (\S+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes[0] == steertag.__version__
    for name in ("CMakeLists.txt", "pyproject.toml"):
        text = (root / name).read_text()
        assert "_version" in text
        assert steertag.__version__ not in text, f"{name} has a version of its own"


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["grade", "--help"], ["version"], ["explain", "RFC8166"], ["coverage"]],
    ids=" ".join,
)
def test_a_closed_pipe_is_quiet(arguments):
    """The pipe has no reader from the start: head might have read all before it ends."""
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "steertag", *arguments],
            stdout=closed,
            stderr=subprocess.PIPE,
            timeout=LIMIT_S,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_server_gets_the_usual_signals(monkeypatch, tmp_path):
    """Python ignores SIGPIPE; a program that it becomes would inherit that."""
    program = tmp_path / "steertag-serve"
    program.write_text("#!/bin/sh\ngrep SigIgn /proc/self/status\n")
    program.chmod(0o755)
    done = run("serve", "--list-deviations", env={**os.environ, "STEERTAG_SERVE": str(program)})
    assert int(done.stdout.split()[1], 16) & 1 << 12 == 0


@pytest.mark.parametrize("arguments", [(), ("cases",)])
def test_an_output_that_cannot_be_written_is_one_sentence(arguments):
    command = [sys.executable, "-m", "steertag", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S
        )
    sentence = "steertag: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, sentence)


def words_of_pytest(monkeypatch, *arguments):
    """The words behind `python -m pytest` that a command becomes, without those that are always there."""
    became = []
    monkeypatch.setattr(suite_commands.os, "execve", lambda _, words, env: became.append(words))
    cli.main(list(arguments))
    (words,) = became
    assert words[1:5] == ["-m", "pytest", "-p", "steertag.suite.plugin"]
    assert words[6] == "--report=build/report"
    return [words[5], *words[7:]]


def test_a_server_is_tested_by_pytest_with_its_options(monkeypatch):
    words = words_of_pytest(monkeypatch, "test", "iwarp://h/x", "-k", "header", "--topic", "rpc")
    suite = str(build_paths.checkout() / "suites" / "server")
    assert words == [suite, "--target", "iwarp://h/x", "-k", "header", "--topic", "rpc"]


def test_the_bundled_server_is_tested_by_name(monkeypatch):
    words = words_of_pytest(monkeypatch, "test", "bundled", "--deviate", "grants-zero")
    assert words[1:] == ["--deviate", "grants-zero"]


@pytest.mark.parametrize(
    "command, line",
    [(["mount {url} && cp"], "mount {url} && cp"), (["cp", "a b", "{url}"], "cp 'a b' '{url}'")],
)
def test_a_client_is_tested_by_its_command(monkeypatch, command, line):
    given = ["test-client", "--listen", "iwarp://127.0.0.1:0", "-n", "2", "--", *command]
    words = words_of_pytest(monkeypatch, *given)
    suite = str(build_paths.checkout() / "suites" / "client")
    assert words == [suite, *given[1:5], "--client-command", line]


@pytest.mark.parametrize(
    "arguments", [["test"], ["test", "-k", "x"], ["test-client", "--listen", "iwarp://127.0.0.1:0"]]
)
def test_what_is_missing_ends_as_wrong_options_of_pytest_do(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 4
    assert "usage: steertag test" in capsys.readouterr().err


def test_an_installed_suite_runs_in_the_working_directory(monkeypatch, tmp_path):
    (tmp_path / "suites" / "server").mkdir(parents=True)
    monkeypatch.setattr(build_paths, "checkout", lambda: None)
    monkeypatch.setattr(build_paths, "PACKAGE", tmp_path)
    words = words_of_pytest(monkeypatch, "test", "iwarp://h/x")
    assert words[0] == str(tmp_path / "suites" / "server")
    assert f"--rootdir={os.getcwd()}" in words

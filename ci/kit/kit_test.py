"""The CI kit as services run it: the scripts of the action, the template and the example, with a real suite."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
import yaml

from steertag import build_paths
from steertag.suite.run.server_process import BundledServer
from steertag.testing.github_runner import obeyed

KIT = pathlib.Path(__file__).resolve().parent
PROJECT = KIT.parents[1]
CASE = "server.header.version-zero"
DEVIATION = "version-discarded"
OTHER_CASE = "server.header.null"
REQUIREMENT = "RFC8166-4.5.1-1"
# Seconds on an idle machine, minutes on one with much else to do.
RUN_LIMIT_S = 300


def load(name):
    return yaml.safe_load((KIT / name).read_text())


@pytest.fixture
def programs(tmp_path):
    """A folder with `steertag`, for the PATH of a script."""
    folder = tmp_path / "programs"
    folder.mkdir()
    write_program(folder / "steertag", f'exec "{sys.executable}" -m steertag "$@"')
    return folder


def write_program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def server(tmp_path):
    """Starts bundled servers with these deviations; the URL of each."""
    started = []

    def start(*deviations):
        arguments = [word for name in deviations for word in ("--deviate", name)]
        program = build_paths.tool("steertag-serve")
        one = BundledServer(program, "iwarp://127.0.0.1:0", arguments, tmp_path, f"s{len(started)}")
        one.start()
        started.append(one)
        return one.urls["rdma"]

    yield start
    for each in started:
        each.stop()


@pytest.fixture
def job(tmp_path, programs):
    """Runs a script as a job does, in a workspace of its own: its CompletedProcess."""
    work = tmp_path / "work"
    work.mkdir()

    def run(script, *arguments, path=None, **variables):
        own = ("STEERTAG", "PYTEST", "GITHUB")
        env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        if "STEERTAG_BUILD" in os.environ:
            env["STEERTAG_BUILD"] = str(build_paths.build_directory())
        env["PATH"] = path or f"{programs}:{env['PATH']}"
        env["PYTHONPATH"] = str(PROJECT / "bindings" / "python")
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, "job"]
        return subprocess.run(
            [*command, *arguments],
            cwd=work,
            env=env | variables,
            capture_output=True,
            text=True,
            timeout=RUN_LIMIT_S,
        )

    run.work = work
    return run


# -- GitHub -----------------------------------------------------------------------------------------


@pytest.fixture
def action(job):
    """Runs the action with these inputs: (CompletedProcess, commands obeyed, outputs, summary)."""
    document = load("action.yml")

    def run(path=None, **given):
        assert given.keys() <= document["inputs"].keys()
        inputs = {name: each["default"] for name, each in document["inputs"].items()} | given
        step = next(each for each in document["runs"]["steps"] if each.get("id") == "run")
        assert step["shell"] == "bash"
        variables = {name: value_of(text, inputs) for name, text in step["env"].items()}
        files = {name: job.work / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for each in files.values():
            each.write_text("")
        variables |= {name: str(each) for name, each in files.items()}
        variables |= {"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(KIT)}
        done = job(step["run"], path=path, **variables)
        outputs = dict(
            line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines()
        )
        summary = files["GITHUB_STEP_SUMMARY"].read_text()
        return done, obeyed(done.stdout), outputs, summary

    return run


def value_of(text, inputs):
    """The text with `${{ inputs.NAME }}` filled in."""
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


def test_a_clean_run_passes_and_annotates_nothing(action, server, job):
    done, commands, outputs, summary = action(target=server(), options=f"--case {CASE}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert commands == [] and outputs == {"status": "0"}
    assert summary.startswith("## Steertag: 1 pass\n")
    report = job.work / "steertag-report"
    assert json.loads((report / "badge.json").read_text())["color"] == "brightgreen"
    assert json.loads((report / "code-quality.json").read_text()) == []
    assert (report / "summary.md").read_text() == summary
    assert (report / "junit.xml").is_file()


def test_a_failure_is_one_annotation_with_its_clause(action, server):
    done, commands, outputs, summary = action(
        target=server(DEVIATION), options=f"--case {CASE} -k 'header or nothing'"
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert outputs == {"status": "1"}
    (command,) = commands
    assert command.name == "error" and command.properties == {"title": "Steertag: 1 case"}
    assert "the server breaks RFC 8166 4.5.1" in command.words
    assert "### 1. 1 case: the server breaks RFC 8166 4.5.1" in summary


def test_a_known_failure_passes_until_its_row_differs(action, server, job):
    url, known = server(DEVIATION), job.work / "known.yaml"
    options = f"--case {CASE} --case {OTHER_CASE}"
    action(target=url, options=options, report="first")
    update = "steertag baseline update --from first --target mine --note discards known.yaml"
    assert job(update).returncode == 0
    text = known.read_text()
    done, commands, outputs, summary = action(target=url, options=options, baseline="known.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert commands == [] and summary.startswith("## Steertag: 1 pass, 1 known\n")

    changed = text.replace("saw silence", "saw something else")
    assert changed != text, text
    stale = {"case": OTHER_CASE, "verdict": "fail", "requirement": REQUIREMENT}
    rows = [stale | {"reason": "x", "note": "x"}]
    known.write_text(changed + yaml.safe_dump(rows, sort_keys=False))
    done, commands, outputs, _ = action(target=url, options=options, baseline="known.yaml")
    assert done.returncode == 1 and outputs == {"status": "1"}, done.stdout
    lines = known.read_text().splitlines()
    rows = [lines[int(command.properties["line"]) - 1] for command in commands]
    assert rows == [f"- case: {CASE}", f"- case: {OTHER_CASE}"]
    assert {command.properties["file"] for command in commands} == {"known.yaml"}
    assert commands[0].words.startswith("other reason: ")
    assert commands[1].words.startswith("stale row: expected fail: x, seen pass\n")


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"target": "iwarp://127.0.0.1:1/export"},
        {"target": "iwarp://127.0.0.1:1/export", "options": "--case server.no-such-case"},
        {"target": "iwarp://127.0.0.1:1/export", "baseline": "no-such-file.yaml"},
        {"client": "cp {url} here"},
    ],
    ids=["no-target", "no-server", "no-case", "no-baseline", "no-listen"],
)
def test_broken_usage_has_a_status_and_an_annotation(action, inputs):
    done, commands, outputs, summary = action(**inputs)
    assert done.returncode == 4, done.stdout + done.stderr
    assert outputs == {"status": "4"}
    (command,) = commands
    assert command.name == "error" and command.words.startswith("no result, exit status 4: ")
    assert "no result, exit status 4: " in summary


def test_github_obeys_nothing_that_a_target_says(action, programs):
    """A suite that prints the words of a hostile server as they are."""
    write_program(
        programs / "steertag",
        f'case $1 in summary) exec "{sys.executable}" -m steertag "$@" ;; esac\n'
        "printf '%s\\n' '::set-output name=status::0' ' x ##[add-mask]e' '::stop-commands::x'\n"
        "printf '::add-path::/evil'\nexit 4",
    )
    done, commands, outputs, _ = action()
    assert "::add-path::/evil" in done.stdout
    assert [command.name for command in commands] == ["error"]
    assert (done.returncode, outputs) == (4, {"status": "4"})


def test_a_summary_that_cannot_be_made_fails_a_clean_run_and_no_other(action, programs):
    for status, expected in ((0, 1), (6, 6)):
        write_program(programs / "steertag", f"case $1 in summary) exit 2 ;; esac; exit {status}")
        done, commands, _, _ = action()
        assert done.returncode == expected and commands == []


def test_the_action_uses_what_it_declares():
    document = load("action.yml")
    used = set(re.findall(r"inputs\.(\w+)", (KIT / "action.yml").read_text()))
    assert used == document["inputs"].keys()
    assert document["runs"]["using"] == "composite"
    for each in document["runs"]["steps"]:
        assert "inputs." not in each.get("run", ""), "an input in a script is code: use env"


# -- GitLab, the shell, a client, a checkout ----------------------------------------------------


def test_the_template_leaves_what_it_declares(job, programs, server):
    template = load("gitlab.yml")[".steertag"]
    write_program(
        programs / "git", f'for last; do :; done\nmkdir "$last"; ln -s "{PROJECT}/ci" "$last/ci"'
    )
    given = {"STEERTAG_TARGET": server(DEVIATION), "STEERTAG_OPTIONS": f"--case {CASE}"}
    assert given.keys() <= template["variables"].keys()
    variables = template["variables"] | given
    done = job("\n".join(template["script"]), **variables)
    assert done.returncode == 1, done.stdout + done.stderr
    artifacts = template["artifacts"]
    places = [*artifacts["paths"], *artifacts["reports"].values()]
    for place in places:
        assert (job.work / place).exists(), place
    (found,) = json.loads((job.work / "steertag-report" / "code-quality.json").read_text())
    assert found["severity"] == "critical" and "RFC 8166 4.5.1" in found["description"]


def test_the_example_runs_as_it_is(job):
    done = job(f'"{KIT}/example" --case {CASE}')
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout and "::" not in re.sub(r"\w+://", "", done.stdout)


def test_a_client_is_tested_by_its_command(job, programs):
    write_program(programs / "steertag", 'printf "%s\\n" "$@"')
    variables = {"STEERTAG_LISTEN": "iwarp://127.0.0.1:0", "STEERTAG_CLIENT": "mount {url}; cp"}
    done = job(f'"{KIT}/run" -n 2', **variables)
    words = done.stdout.splitlines()
    assert words == ["test-client", "--listen", "iwarp://127.0.0.1:0"] + [
        *("--report", "steertag-report", "-n", "2", "--", "mount {url}; cp")
    ]


def test_without_an_installed_steertag_the_checkout_is_built(job, tmp_path):
    """With a stand-in for the build, which takes minutes."""
    checkout = tmp_path / "checkout"
    shutil.copytree(KIT, checkout / "ci" / "kit")
    bin_folder = checkout / "build" / "venv" / "bin"
    write_program(
        checkout / "ci" / "quickstart",
        f'[ "$*" = --build ] || exit 9\nmkdir -p "{bin_folder}"\n'
        f'printf \'#!/bin/sh\\necho built "$@"\\n\' >"{bin_folder}/steertag"\n'
        f'chmod +x "{bin_folder}/steertag"',
    )
    done = job(f'"{checkout}/ci/kit/run"', path="/usr/bin:/bin", STEERTAG_TARGET="iwarp://h/x")
    assert done.stdout == "built test iwarp://h/x --report steertag-report\n", done.stderr
    assert done.returncode == 0


def examples():
    """The YAML documents among the indented blocks of the page."""
    page = (PROJECT / "docs" / "ci.md").read_text()
    blocks = re.findall(r"(?:^    .*\n|^\n(?=\n?    ))+", page, re.MULTILINE)
    texts = [textwrap.dedent(block) for block in blocks]
    return [yaml.safe_load(text) for text in texts if re.match(r"\n*(jobs|include):\n", text)]


def test_the_examples_of_the_page_use_what_there_is():
    github, gitlab = examples()
    (step,) = [each for each in github["jobs"]["nfs-rdma"]["steps"] if "with" in each]
    assert step["uses"].partition("@")[0].endswith("/steertag/ci/kit")
    assert step["with"].keys() <= load("action.yml")["inputs"].keys()
    template = load("gitlab.yml")[gitlab["nfs-rdma"]["extends"]]
    assert gitlab["nfs-rdma"]["variables"].keys() <= template["variables"].keys()
    assert gitlab["include"][0]["remote"].endswith("/ci/kit/gitlab.yml")


def test_the_page_names_every_input():
    page = (PROJECT / "docs" / "ci.md").read_text()
    table = page[page.index("| input |") :].partition("\n\n")[0]
    named = set(
        re.findall("`([a-z]+)`", "\n".join(line.split("|")[1] for line in table.splitlines()))
    )
    assert named == load("action.yml")["inputs"].keys()


def test_quickstart_builds_without_a_run():
    assert "[[ ${1-} != --build ]] || exit 0" in (PROJECT / "ci" / "quickstart").read_text()

"""Tests of a user's programs and steps: what is refused, and that what is packed runs."""

import os
import re
import subprocess

import pytest

from lab import command
from lab.failure import LabFailure
from lab.kernel_client import own_steps, workload

LIMIT_S = 60


@pytest.fixture
def step(tmp_path):
    path = tmp_path / "mine"
    path.write_text("hello\n")
    return path


@pytest.fixture
def programs(tmp_path):
    """A directory with a dynamically linked program, a script and a link to it."""
    folder = tmp_path / "programs"
    folder.mkdir()
    source = tmp_path / "hello.c"
    source.write_text('#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n')
    subprocess.run(["gcc-12", "-o", folder / "hello", source], check=True, timeout=LIMIT_S)
    (folder / "script").write_text("#!/bin/sh\nexec hello\n")
    (folder / "script").chmod(0o755)
    (folder / "link").symlink_to("script")
    return folder


def load(step, programs=None):
    return own_steps.load([str(step)], programs and str(programs), 5)


def pack(own, tmp_path):
    root = tmp_path / "root"
    (root / workload.GUEST_DIRECTORY / "steps").mkdir(parents=True)
    own.copy(root)
    return root


def test_own_steps_run_between_mount_and_unmount_and_no_other(step):
    own = load(step)
    names = [each.name for each in workload.select(["v3"], own.steps()).steps]
    assert names == ["mount", "mount-b", "mine", "unmount"]
    names = [each.name for each in workload.select(["fsx"], own.steps()).steps]
    assert names == ["mount", "mount-b", "fsx", "mine", "unmount"]
    assert own.steps()[0].limit_s == 5


def test_own_steps_run_with_every_version_and_storage(step):
    (mine,) = load(step).steps()
    selection = workload.select(["local"], (mine,))
    for version in workload.VERSIONS:
        for storage in workload.STORAGES:
            assert selection.applies(mine, storage, version)
    assert selection.applies(mine, "", workload.LOCAL)


def test_what_is_packed_runs(step, programs, tmp_path):
    """The step of the agent, with the guest's directories below another root."""
    root = pack(load(step, programs), tmp_path)
    folder = root / own_steps.GUEST_DIRECTORY
    order = (root / workload.GUEST_DIRECTORY / "steps" / "mine").read_text()
    assert order == f"/{workload.GUEST_DIRECTORY}/own-step mine\n"
    text = (workload.SOURCES / "own-step").read_text()
    export = tmp_path / "a"
    export.mkdir()
    (tmp_path / "b").symlink_to(export)
    text = text.replace(f"/{own_steps.GUEST_DIRECTORY}", str(folder))
    text = re.sub("busybox --install.*", ":", text)  # of the guest
    text = re.sub("mounts=.*", f"mounts={tmp_path}", text)

    def run():
        arguments = ["sh", "-c", text, "own-step", "mine"]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=LIMIT_S)
        return done.returncode, done.stdout + done.stderr

    (folder / "steps" / "mine").write_text("hello > file\nlink\ncat $other/file\npwd\n")
    assert run() == (0, f"hello\nhello\n{export / 'mine'}\n")
    assert list(export.iterdir()) == []
    (folder / "steps" / "mine").write_text("touch left\nfalse\necho never\n")
    assert run() == (1, "")
    assert list(export.iterdir()) == []


def test_libraries_go_along_but_for_the_c_library(step, programs, tmp_path, monkeypatch):
    library = tmp_path / "libmine.so.1"
    library.write_text("a library")
    found = {"hello": [str(library), "/lib/x/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]}
    monkeypatch.setattr(own_steps.program, "libraries", lambda path: found[path.name])
    root = pack(load(step, programs), tmp_path)
    packed = root / own_steps.GUEST_DIRECTORY / "libraries"
    assert [path.name for path in packed.iterdir()] == ["libmine.so.1"]


@pytest.mark.parametrize(
    "name, text, sentence",
    [
        ("fsx", "", "fsx is a word of the workload"),
        ("v3", "", "v3 is a word of the workload"),
        ("two words", "", "two words is no name of a step"),
        ("x" * 33, "", "is no name of a step"),
        ("mine", "#!/bin/bash\n", "is no script of sh"),
        ("mine", "#!/usr/bin/env python3\n", "is no script of sh"),
        ("mine", "\x7fELF\x02", "is no script of sh"),
    ],
)
def test_what_is_no_step_is_refused(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(LabFailure, match=sentence):
        load(tmp_path / name)


@pytest.mark.parametrize("first", ["#!/bin/sh", "#! /bin/sh -e", "#!/usr/bin/env sh", "echo", ""])
def test_a_script_of_sh_is_a_step(step, first):
    step.write_text(f"{first}\n")
    assert [each.name for each in load(step).steps()] == ["mine"]


def test_options_that_do_not_fit_are_refused(step, programs, tmp_path):
    assert own_steps.load([], None, 5) is None
    for scripts, folder, sentence in (
        ([], programs, "--programs needs a --step"),
        ([tmp_path / "none"], None, "is no file"),
        ([step], tmp_path / "none", "is no directory of programs"),
        ([step, step], None, "two steps are called mine"),
    ):
        with pytest.raises(LabFailure, match=sentence):
            own_steps.load(list(map(str, scripts)), folder and str(folder), 5)


def test_a_link_that_leads_out_is_refused(step, programs):
    (programs / "out").symlink_to("/bin/sh")
    with pytest.raises(LabFailure, match="out leads out of"):
        load(step, programs)


def test_what_the_guest_has_no_room_for_is_refused(step, programs):
    with open(programs / "large", "wb") as large:
        large.truncate(own_steps.MOST_BYTES)
    with pytest.raises(LabFailure, match="too large for the guest's memory: more than 256 MiB"):
        load(step, programs)


def test_what_cannot_be_copied_is_told(step, programs, tmp_path):
    os.mkfifo(programs / "pipe")
    with pytest.raises(LabFailure, match="(?s)cannot be copied.*pipe"):
        pack(load(step, programs), tmp_path)


def test_only_clients_have_steps(step, capsys):
    assert command.main(["run", "linux-6.1-siw", "--step", str(step)]) == command.EXIT_LAB_FAILURE
    assert "linux-6.1-siw is no client" in capsys.readouterr().err


def test_names_are_those_of_the_directory_of_the_user(step, monkeypatch):
    monkeypatch.chdir(step.parent)
    words = [
        "run",
        "client-linux-6.1-siw",
        "--step",
        "mine",
        "--programs",
        ".",
        "--",
        "v3",
        "local",
    ]
    options = command.parse(words)
    assert (options.step, options.programs) == ([str(step)], str(step.parent))
    assert options.arguments == ["v3", "local"]


@pytest.mark.parametrize("recipe", sorted(own_steps.RECIPES.iterdir()), ids=lambda path: path.name)
def test_every_recipe_is_a_step(recipe):
    assert load(recipe).steps()[0].name == recipe.name

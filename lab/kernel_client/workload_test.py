"""Tests of what is chosen of the workload, and of its programs on this machine's own file system."""

import subprocess

import pytest

from lab.failure import LabFailure
from lab.kernel_client import workload

LIMIT_S = 60


def steps_of(selection):
    return [step.name for step in selection.steps]


def test_no_word_selects_every_version_and_storage_but_not_local():
    selection = workload.select([])
    assert len(selection.runs()) == len(workload.VERSIONS) * 2
    assert (workload.DIRECTORY, "v4.1") in selection.runs()
    assert steps_of(selection) == list(workload.NAMES)


def test_words_select_and_mounting_is_always_part_of_it():
    selection = workload.select(["v3", "memory", "fsx"])
    assert selection.runs() == [("memory", "v3")]
    assert steps_of(selection) == ["mount", "mount-b", "fsx", "unmount"]


def test_local_has_no_storage():
    assert workload.select(["local"]).runs() == [("", "local")]


def test_an_unknown_word_is_refused():
    with pytest.raises(LabFailure, match="has no `v5`"):
        workload.select(["v5"])


def test_a_restart_needs_storage_that_stays():
    selection = workload.select([])
    restart = next(step for step in selection.steps if step.name == "restart")
    assert selection.applies(restart, "directory", "v4.1")
    assert not selection.applies(restart, "memory", "v4.1")
    assert not selection.applies(restart, "", "local")


def test_every_step_has_a_file():
    files = {path.name for path in (workload.SOURCES / "steps").iterdir()}
    assert files == set(workload.NAMES)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for source in workload.SOURCES.glob("*.c"):
        workload.compile_program(source, folder / source.stem)
    return folder


def run(program, *arguments):
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT_S
    )
    return done.returncode, done.stdout


def test_locks_of_two_processes(programs, tmp_path):
    status, output = run(programs / "locks", tmp_path / "file", tmp_path / "file")
    assert (status, output.split(",")[1].strip()) == (0, "counter 50")


def test_a_held_lock_stays_held(programs, tmp_path):
    file = tmp_path / "file"
    status, output = run(programs / "held", file, file, "true")
    if "drop_caches" in output:
        pytest.skip("only root can make the file come from the disk again")
    assert (status, output.split(";")[0]) == (0, "the lock was kept")


def test_a_lost_lock_is_told(programs, tmp_path):
    # Client B locks another file than client A.
    (tmp_path / "b").write_bytes(b"")
    status, output = run(programs / "held", tmp_path / "a", tmp_path / "b", "true")
    assert status == 1
    assert "client B, the locked part before the restart: Success instead of" in output


def test_appends_to_two_files_are_told_apart(programs, tmp_path):
    (tmp_path / "b").write_bytes(b"")
    status, output = run(programs / "append", tmp_path / "a", tmp_path / "b", 4)
    assert status == 1
    assert "the other client sees a size of 0" in output


def test_names_and_attributes(programs, tmp_path):
    status, output = run(programs / "names", tmp_path / "names")
    assert (status, output) == (0, "names, links, modes and times are as told\n")


def test_many_files_must_be_new(programs, tmp_path):
    (tmp_path / "many").mkdir()
    status, output = run(programs / "many", tmp_path / "many", 10)
    assert status == 1
    assert "File exists" in output


def test_random_operations_are_the_same_for_a_seed(programs, tmp_path):
    # As root this also drops the machine's page cache, which does no harm.
    for name in ("one", "two"):
        status, output = run(programs / "fsx", tmp_path / name, 7, 200)
        if "drop_caches" in output:
            pytest.skip("only root can make the file come from the disk again")
        assert status == 0, output
    assert (tmp_path / "one").stat().st_size == (tmp_path / "two").stat().st_size

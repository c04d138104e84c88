"""The kept list of cases: it answers only for the sources that it was collected from."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from steertag import build_paths, suites_place
from steertag.case_list import kept_list, source_digest
from steertag.case_list.case_entry import CaseEntry

ENTRY = CaseEntry(
    "server.header.one", ("RFC8166-4-1",), (), "safe", (), "a::b", summary="One. Two."
)
LIMIT_S = 300


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """A folder of cases in place of the suites; `collected` counts the collections."""
    folder = tmp_path / "suites" / "server"
    folder.mkdir(parents=True)
    (folder / "test_one.py").write_text("one = 1\n")
    monkeypatch.setattr(suites_place, "root", lambda: tmp_path / "suites")
    monkeypatch.setattr(kept_list, "place", lambda: tmp_path / "build" / "cases.json")
    collected = []
    monkeypatch.setattr(kept_list, "_collected", lambda paths: collected.append(paths) or [ENTRY])
    return folder, collected


def test_the_list_is_collected_once_as_long_as_no_source_changes(suite):
    _, collected = suite
    assert kept_list.kept_cases() == []
    assert kept_list.case_list() == kept_list.case_list() == kept_list.kept_cases() == [ENTRY]
    assert len(collected) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "test_one.py").write_text("one = 2\n"),
        lambda folder: (folder / "test_two.py").write_text(""),
        lambda folder: (folder / "test_one.py").rename(folder / "test_three.py"),
        lambda folder: (folder.parent / "conftest.py").write_text(""),
        lambda folder: (folder / "test_one.py").unlink(),
    ],
    ids=["content", "new", "name", "beside", "gone"],
)
def test_a_change_of_any_source_makes_the_list_stale(suite, change):
    folder, collected = suite
    kept_list.case_list()
    times = {path: os.stat(path) for path in folder.iterdir()}
    change(folder)
    for path, status in times.items():  # size and time are no evidence
        if path.exists():
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert kept_list.kept_cases() == []
    kept_list.case_list()
    assert len(collected) == 2


def test_a_setting_of_pytest_makes_the_list_stale(suite, monkeypatch):
    kept_list.case_list()
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    assert kept_list.kept_cases() == []


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"digest": 1}', "cut"])
def test_a_damaged_file_is_as_none(suite, damage):
    _, collected = suite
    kept_list.case_list()
    text = kept_list.place().read_text()
    kept_list.place().write_text(text[:-2] if damage == "cut" else damage)
    assert kept_list.case_list() == [ENTRY]
    assert len(collected) == 2


def test_without_a_place_the_list_is_collected_each_time(suite, monkeypatch):
    _, collected = suite
    monkeypatch.setattr(kept_list, "place", lambda: pathlib.Path("/proc/none/cases.json"))
    assert kept_list.case_list() == kept_list.case_list() == [ENTRY]
    assert len(collected) == 2


def test_other_cases_are_not_kept(suite):
    folder, _ = suite
    kept_list.case_list([folder])
    assert not kept_list.place().exists()


def test_a_source_that_changes_meanwhile_is_not_kept(suite, monkeypatch):
    folder, _ = suite

    def collect(_):
        (folder / "test_one.py").write_text("one = 3\n")
        return [ENTRY]

    monkeypatch.setattr(kept_list, "_collected", collect)
    kept_list.case_list()
    assert not kept_list.place().exists()


def test_the_digest_covers_all_files_of_the_project_that_a_collection_loads():
    program = """
import json, sys
from steertag import suites_place
from steertag.suite.cases.collection import collect
collect([suites_place.folder({!r})])
print(json.dumps([each.__file__ for each in list(sys.modules.values()) if getattr(each, "__file__", None)]))
"""
    loaded = set()
    for role in suites_place.ROLES:
        done = subprocess.run(
            [sys.executable, "-c", program.format(role)],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=True,
        )
        loaded.update(map(pathlib.Path, json.loads(done.stdout.splitlines()[-1])))
    covered = set(source_digest.sources(suites_place.folders()))
    own = {path for path in loaded if path.is_relative_to(build_paths.checkout() / "suites")}
    own |= {path for path in loaded if path.is_relative_to(build_paths.PACKAGE)}
    own |= {path for path in loaded if path.name.startswith("_engine")}
    assert len(own) > 100
    assert own <= covered
    others = [path for path in loaded - own if not path.is_relative_to("/usr/lib")]
    assert not [path for path in others if path.is_relative_to(build_paths.checkout())], others


def test_every_case_has_a_sentence():
    bad = [each.id for each in kept_list.case_list() if not each.sentence.endswith((".", "!", "?"))]
    assert not bad


def test_the_sentence_is_the_first_one():
    assert ENTRY.sentence == "One."
    assert ENTRY.topic == "header"

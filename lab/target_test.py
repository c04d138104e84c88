"""Tests of targets: each one loads, and what is said by likeness to another one."""

import pytest
import yaml

from lab import command, target as targets
from lab.failure import LabFailure
from lab.kernel_client import client_suite
from lab.machines import session
from lab.suite_runs import pair


def test_every_target_loads_and_its_role_is_known():
    assert len(targets.names()) >= 6
    for name in targets.names():
        target = targets.load(name)
        assert target.role in command.ACTIONS_OF_ROLE
        roles = (session.SERVER, pair.TESTER) if target.role == command.PAIR else (target.role,)
        for role in roles:
            assert (targets.LAB / "guest/lab" / role).is_file()
        for module in target.kernel.extra_modules:
            for patch in module.patches:
                assert (targets.PATCHES / patch).is_file()


def test_a_target_is_like_another_one_but_for_what_it_names():
    old, new = targets.load("linux-6.1-siw"), targets.load("linux-6.12-siw")
    assert (new.device, new.packages) == (old.device, old.packages)
    assert new.kernel.modules == old.kernel.modules
    assert (old.kernel.suite, new.kernel.suite) == (None, "bookworm-backports")


def head(baseline):
    """What a baseline says beside its rows, which are many."""
    return yaml.safe_load(baseline.read_text().partition("rows:")[0])


def test_the_rows_of_a_baseline_are_of_the_kernel_that_its_target_boots():
    compared = 0
    for target in map(targets.load, targets.names()):
        subjects = [target, *(client_suite.Subject(target, v) for v in client_suite.VERSIONS)]
        found = [head(each.baseline) for each in subjects if each.baseline.exists()]
        assert bool(found) == target.gated, f"{target.name}: a pin and a baseline, or neither"
        for said in found:
            assert said["kernel"] == target.kernel.pin.version, f"{said['target']}, {target.name}"
            compared += 1
    assert compared >= 9


def test_one_target_follows_the_newest_kernel():
    newest, pinned = targets.load("linux-6.1-siw-newest"), targets.load("linux-6.1-siw")
    assert newest.kernel.pin is None and not newest.gated
    assert newest.kernel.packages == pinned.kernel.packages


def test_likeness_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "TARGETS", tmp_path)
    monkeypatch.setattr(targets, "PROJECT", tmp_path)
    (tmp_path / "a.yaml").write_text(yaml.safe_dump({"name": "a", "like": "a"}))
    with pytest.raises(LabFailure, match="a.yaml is like too many others"):
        targets.load("a")


def test_an_unknown_target_is_refused():
    with pytest.raises(LabFailure, match="there is no target linux-2.0"):
        targets.load("linux-2.0")

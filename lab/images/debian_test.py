"""Tests of the private apt configuration for a further suite."""

import pytest

from lab.failure import LabFailure
from lab.images import debian


@pytest.fixture
def apt(monkeypatch):
    """What would have been run; `answers` are looked up by the last option's command."""
    calls, answers = [], {}

    def run(arguments, limit_s, cwd=None):
        calls.append(arguments)
        return answers.get(next((w for w in arguments if w in answers), ""), "")

    monkeypatch.setattr(debian.host, "run", run)
    return calls, answers


def test_a_suite_is_read_beside_the_sources_of_the_machine(apt, tmp_path):
    calls, answers = apt
    answers["indextargets"] = "Debian-Security http://s/\nDebian http://d/debian/\n"
    answers[
        "install"
    ] = "'http://d/x/linux-a_6.12-1%7ebpo_amd64.deb' linux-a_6.12-1%7ebpo_amd64.deb 7\n"
    archive = debian.Archive(tmp_path, "bookworm-backports")
    assert [(p.name, p.version) for p in archive.closure(["linux-a"])] == [
        ("linux-a", "6.12-1~bpo")
    ]
    source = (tmp_path / "state-bookworm-backports/sources/steertag-lab.list").read_text()
    assert source.endswith("] http://d/debian/ bookworm-backports main\n")
    assert "APT::Default-Release=bookworm-backports" in calls[-1]
    updates = sum("update" in call for call in calls)
    archive.closure(["linux-a"])
    assert (updates, sum("update" in call for call in calls)) == (1, 1)  # lists are fresh


def test_without_a_suite_nothing_of_the_configuration_changes(apt, tmp_path):
    calls, _ = apt
    assert debian.Archive(tmp_path).closure(["x"]) == []
    assert not any("sourceparts" in word for word in calls[-1])


def test_a_machine_without_debian_is_told(apt):
    with pytest.raises(LabFailure, match="no source of Debian itself"):
        debian.mirror()

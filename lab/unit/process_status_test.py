"""What makes a process unprivileged, and a status that is cut."""

import dataclasses

import pytest

from lab.failure import LabFailure
from lab.unit.process_status import SECCOMP_FILTER, ProcessStatus

LINES = (
    "Name:\tsteertag-serve",
    "Uid:\t61000\t61000\t61000\t61000",
    "CapEff:\t0000000000000000",
    "CapBnd:\t0000000000000000",
    "NoNewPrivs:\t1",
    "Seccomp:\t2",
)
UNPRIVILEGED = ProcessStatus(7, 61000, 0, 0, True, SECCOMP_FILTER)


def test_a_status_is_read_and_said():
    status = ProcessStatus.parse(7, list(LINES))
    assert status == UNPRIVILEGED and status.unprivileged()
    assert status.text() == "uid 61000, capabilities 0x0 of 0x0, no_new_privs 1, seccomp 2"


@pytest.mark.parametrize(
    "change",
    [{"uid": 0}, {"effective": 1}, {"bounding": 1}, {"no_new_privs": False}, {"seccomp": 0}],
    ids=lambda change: next(iter(change)),
)
def test_one_privilege_is_enough(change):
    assert not dataclasses.replace(UNPRIVILEGED, **change).unprivileged()


def test_a_cut_status_is_a_failure_of_the_lab():
    with pytest.raises(LabFailure, match="process 7 cannot be read: KeyError"):
        ProcessStatus.parse(7, list(LINES[:-1]))

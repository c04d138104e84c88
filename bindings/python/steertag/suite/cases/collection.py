"""Collects cases, with the requirements that they assert."""

import dataclasses
import multiprocessing
import os
import pathlib

import pytest

from ... import build_paths
from .case import case_of, unbroken_of

SUITES = ("server", "client")
# Collection takes a second; a process that died gives no answer.
COLLECT_LIMIT_S = 120


@dataclasses.dataclass(frozen=True)
class CaseEntry:
    """One case (one variant of a parametrised one) as collected."""

    id: str
    requirements: tuple
    needs: tuple
    risk: str
    bugs: tuple
    nodeid: str
    path: str = ""  # of its file, absolute
    unbroken: str = ""  # why no deviation breaks a requirement of it
    unfailed: dict = dataclasses.field(
        default_factory=dict
    )  # {finished id: why none makes it fail}


class CannotCollect(Exception):
    """pytest could not collect; the text is one sentence."""


def suites():
    """The folders of the suites in the checkout of this package, or below the working directory. Raises
    CannotCollect when there are none."""
    root = (build_paths.checkout() or pathlib.Path()) / "suites"
    found = [root / name for name in SUITES if (root / name).is_dir()]
    if not found:
        raise CannotCollect(f"there are no suites in {root}; name the folder of the cases")
    return found


def _entry(made, case_id, item):
    reasons = unbroken_of(item)
    return CaseEntry(
        case_id,
        made.requirements,
        made.needs,
        made.risk,
        made.bugs,
        item.nodeid,
        str(item.path),
        reasons.reason,
        reasons.unfailed,
    )


class _Collector:
    def __init__(self):
        self.entries = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        for item in items:
            found = case_of(item)
            if found is not None:
                self.entries.append(_entry(*found, item))


def collect(paths):
    """The CaseEntry list of all cases below the paths, sorted by id. No target is needed. Raises
    CannotCollect when a case file is broken."""
    collector = _Collector()
    arguments = ["--collect-only", "-p", "no:terminal"]
    status = pytest.main([*arguments, *map(str, paths)], plugins=[collector])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise CannotCollect("the cases cannot be collected; pytest --collect-only tells why")
    return sorted(collector.entries, key=lambda entry: entry.id)


def collect_apart(paths):
    """Like `collect`, with a process for each path: two suites may have files of one name."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(len(paths), os.cpu_count() or 1), maxtasksperchild=1) as pool:
        collecting = pool.map_async(collect, [[path] for path in paths], chunksize=1)
        try:
            found = collecting.get(COLLECT_LIMIT_S)
        except multiprocessing.TimeoutError:
            raise CannotCollect(f"no cases within {COLLECT_LIMIT_S} s") from None
    return sorted((entry for entries in found for entry in entries), key=lambda entry: entry.id)

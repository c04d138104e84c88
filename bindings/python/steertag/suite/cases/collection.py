"""Collects cases, with the requirements that they assert."""

import multiprocessing
import os
import pathlib

import pytest

from ... import suites_place
from ...case_list.case_entry import CaseEntry, first_paragraph
from .case import case_of, unbroken_of

# Collection takes a second; a process that died gives no answer.
COLLECT_LIMIT_S = 120


class CannotCollect(Exception):
    """pytest could not collect; the text is one sentence."""


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
        first_paragraph(item.function.__doc__),
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
    arguments = ["--collect-only", "-p", "no:terminal", *_root_option(paths)]
    status = pytest.main([*arguments, *map(str, paths)], plugins=[collector])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise CannotCollect("the cases cannot be collected; pytest --collect-only tells why")
    return sorted(collector.entries, key=lambda entry: entry.id)


def _root_option(paths):
    """Node ids of the suites do not depend on the working directory, also without a pyproject.toml."""
    root = suites_place.root().resolve()
    inside = all(pathlib.Path(path).resolve().is_relative_to(root) for path in paths)
    return [f"--rootdir={root.parent}"] if inside else []


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

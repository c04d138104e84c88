"""Which cases exist and which requirements they assert, found by collecting them."""

import dataclasses

import pytest

from .case import case_of


@dataclasses.dataclass(frozen=True)
class CaseEntry:
    """One case (one variant of a parametrised one) as collected."""

    id: str
    requirements: tuple
    needs: tuple
    risk: str
    bugs: tuple
    nodeid: str


class CannotCollect(Exception):
    """pytest could not collect; the text is one sentence."""


class _Collector:
    def __init__(self):
        self.entries = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        for item in items:
            found = case_of(item)
            if found is not None:
                made, case_id = found
                self.entries.append(
                    CaseEntry(
                        case_id, made.requirements, made.needs, made.risk, made.bugs, item.nodeid
                    )
                )


def collect(paths):
    """The CaseEntry list of all cases below the paths, sorted by id. No target is needed. Raises
    CannotCollect when a case file is broken."""
    collector = _Collector()
    arguments = ["--collect-only", "-p", "no:terminal"]
    status = pytest.main([*arguments, *map(str, paths)], plugins=[collector])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise CannotCollect("the cases cannot be collected; pytest --collect-only tells why")
    return sorted(collector.entries, key=lambda entry: entry.id)

"""The project's baselines: each of their rows is of a case that the suites have."""

import pytest

from steertag import baseline, build_paths, suites_place
from steertag.suite.cases import collection

BASELINES = sorted((build_paths.checkout() / "fixtures" / "baselines").glob("*.yaml"))


@pytest.fixture(scope="module")
def case_ids():
    return {one.id for one in collection.collect_apart(suites_place.folders())}


@pytest.mark.parametrize("path", BASELINES, ids=lambda path: path.stem)
def test_no_row_is_stale(path, case_ids):
    """The gate finds a stale row too, but only behind a run of the whole suite."""
    gone = [row.case for row in baseline.load(path).rows if row.case not in case_ids]
    assert not gone, f"{path.name} has rows of cases that are gone: {gone}"

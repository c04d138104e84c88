"""The failures of our server that stay: fixtures/baselines/peers/NAME.yaml, one row a test.

A row has `test`, `clause` (the text that our server follows, such as "RFC 7530 9.9") and `reason`. `passed` is how
many tests pass at least, so that a run of few tests is none."""

import dataclasses
import re

import yaml

from ci.jobs import PROJECT
from ci.jobs.peers.peer_run import CannotRun

FOLDER = PROJECT / "fixtures" / "baselines" / "peers"
CLAUSE = re.compile(r"RFC \d+ \d+(\.\d+)*")
ROW_KEYS = {"test", "clause", "reason"}


@dataclasses.dataclass
class PeerBaseline:
    """{test: (clause, reason)} of the failures that are defended."""

    passed: int
    rows: dict

    def differences(self, run):
        """One sentence for each difference of a PeerRun."""
        for test in sorted(run.failed.keys() - self.rows.keys()):
            yield f"{test} fails: {run.failed[test]}"
        for test in sorted(self.rows.keys() - run.failed.keys()):
            yield f"{test} does not fail any more: remove its row"
        if run.passed < self.passed:
            yield f"{run.passed} tests pass, fewer than {self.passed}"


def load(name, folder=FOLDER):
    """The baseline of a peer. Raises CannotRun."""
    path = folder / f"{name}.yaml"
    if not path.exists():
        raise CannotRun(f"{name} has no baseline at {path}")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    rows = {}
    for row in content["rows"]:
        if set(row) != ROW_KEYS or not CLAUSE.fullmatch(row["clause"]) or not row["reason"]:
            raise CannotRun(f"{path}: a row needs test, clause (as RFC 7530 9.9) and reason: {row}")
        if row["test"] in rows:
            raise CannotRun(f"{path}: {row['test']} has two rows")
        rows[row["test"]] = (row["clause"], row["reason"])
    return PeerBaseline(content["passed"], rows)

"""Tells whether a case blames a requirement. As a pytest plugin: ends the run at the first case that
blames the requirement named by STEERTAG_BLAME."""

import os

JUDGEMENTS = ("fail", "warn", "crash", "hang")
# A server that died or stopped cannot show the rule that it broke; the case's claim stands for it.
ENDS = ("crash", "hang")


def blames(case, requirement):
    """Whether one row of report.json blames the requirement: by a finding of the judge, by an
    expectation of the case, which stands in the reason ("ID: what was expected; ID: ..."), or by
    the end of the server in a case that claims the requirement."""
    if case["verdict"] not in JUDGEMENTS:
        return False
    return (
        any(finding["id"] == requirement for finding in case["findings"])
        or any(part.startswith(f"{requirement}:") for part in case["reason"].split("; "))
        or (case["verdict"] in ENDS and requirement in case["requirements"])
    )


class _Stop:
    def __init__(self, requirement):
        self._requirement = requirement
        self._session = None

    def pytest_sessionstart(self, session):
        self._session = session

    def pytest_runtest_logreport(self, report):
        fields = getattr(report, "steertag", None)
        if fields and blames(fields, self._requirement):
            self._session.shouldstop = f"{self._requirement} is blamed"


def pytest_configure(config):
    config.pluginmanager.register(_Stop(os.environ["STEERTAG_BLAME"]))

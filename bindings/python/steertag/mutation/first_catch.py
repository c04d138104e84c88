"""A pytest plugin: ends the run at the first case that names a requirement as broken."""

import os

from .attribution import attributed

REQUIREMENT = "STEERTAG_MUTATION_REQUIREMENT"


class _Stop:
    def __init__(self, requirement):
        self._requirement = requirement
        self._session = None

    def pytest_sessionstart(self, session):
        self._session = session

    def pytest_runtest_logreport(self, report):
        fields = getattr(report, "steertag", None)
        if fields and attributed(fields, self._requirement):
            # No `shouldstop`: pytest would read its own sources for the place of an interruption.
            self._session.shouldfail = f"{self._requirement} is broken"


def pytest_configure(config):
    config.pluginmanager.register(_Stop(os.environ[REQUIREMENT]))

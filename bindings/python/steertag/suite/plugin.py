"""The pytest plugin: runs cases, maps verdicts onto outcomes, writes the report.

Load it with `-p steertag.suite.plugin` (this repository's pyproject.toml does). It leaves ordinary
tests alone.
"""

import pytest

from . import options as suite_options
from .case import case_of
from .conduct import conduct, record_of_setup, SteertagWarning
from .report import JunitReport, Record, Report
from .session import Session, Unreachable
from .terminal import status, write_summary
from .verdict import Verdict

_SESSION = pytest.StashKey()
_REPORTING = pytest.StashKey()
_CASE = pytest.StashKey()
_RECORD = pytest.StashKey()


def pytest_addoption(parser):
    suite_options.add_options(parser)


def pytest_configure(config):
    config.addinivalue_line("markers", "steertag_case(case): set by steertag.suite.case")
    options = suite_options.read_options(config)
    worker = getattr(config, "workerinput", {}).get("workerid")
    config.stash[_SESSION] = Session(options, worker or "main")
    if worker is None:
        config.stash[_REPORTING] = _Reporting(config, options)
        if config.getoption("--report"):
            suite_options.make_report_directory(options.report)
    config.pluginmanager.register(_Hooks(), "steertag-hooks")


def pytest_sessionstart(session):
    """A third party is contacted once, before anything runs, also when xdist will do the running."""
    config = session.config
    suite = config.stash[_SESSION]
    if suite.options.target and _REPORTING in config.stash and not config.option.collectonly:
        try:
            suite.first_contact()
        except Unreachable as error:
            raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    seen = {}
    cases = 0
    for item in items:
        try:
            found = case_of(item)
        except ValueError as error:
            raise pytest.UsageError(f"{item.nodeid}: {error}") from None
        if found is None:
            continue
        cases += 1
        case, case_id = found
        if case_id in seen:
            raise pytest.UsageError(f"case id {case_id} is used by {seen[case_id]} and {item.nodeid}")
        seen[case_id] = item.nodeid
        item.stash[_CASE] = case, case_id
        item.user_properties.append(("case", case_id))
    if cases and _REPORTING in config.stash:
        suite_options.make_report_directory(config.stash[_SESSION].options.report)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    found = item.stash.get(_CASE, None)
    if found is None:
        return
    try:
        item.config.stash[_SESSION].prepare(*found)
    except Unreachable as error:
        item.session.shouldstop = str(error)
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs a case in place of pytest's own call."""
    found = pyfuncitem.stash.get(_CASE, None)
    if found is None:
        return None
    suite = pyfuncitem.config.stash[_SESSION]
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    pyfuncitem.stash[_RECORD] = conduct(suite, lambda: pyfuncitem.obj(**arguments))
    record = pyfuncitem.stash[_RECORD]
    if record.verdict == Verdict.WARN.value:
        pyfuncitem.warn(SteertagWarning(f"{record.id}: {record.reason}"))
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Turns pytest's view of a phase into the record's view."""
    outcome = yield
    found = item.stash.get(_CASE, None)
    if found is None:
        return
    report = outcome.get_result()
    report.steertag_id = found[1]
    record = item.stash.get(_RECORD, None) if call.when == "call" else None
    if record is not None:
        _apply(record, report, item)
    elif not report.passed and call.when in ("setup", "teardown"):
        record = record_of_setup(*found, report)
        report.steertag = vars(record)
        item.user_properties.append(("verdict", record.verdict))
    suite = item.config.stash[_SESSION]
    if suite.lost:
        report.steertag_stop = suite.lost
        item.session.shouldstop = suite.lost


def _apply(record, report, item):
    """pytest's outcome of the call phase follows the verdict."""
    verdict = Verdict(record.verdict)
    record.seconds = report.duration
    report.steertag = vars(record)
    for name, value in (("verdict", record.verdict), ("reason", record.reason)):
        item.user_properties.append((name, value))
    item.user_properties += [("requirement", each) for each in record.requirements]
    report.user_properties = list(item.user_properties)
    if verdict.outcome == "skipped":
        report.outcome = "skipped"
        path, line, _ = item.location
        report.longrepr = (path, (line or 0) + 1, f"{record.verdict}: {record.reason}")
    elif verdict.spoils_run:
        report.outcome = "failed"
        report.longrepr = f"{record.id} ({item.location[0]})\n{record.detail}"
        if verdict is Verdict.HARNESS_ERROR:
            # What fails outside of the call phase is an error to pytest, its summary and JUnit.
            report.when = "setup"
    elif record.detail:
        report.sections.append((f"steertag {record.verdict}", record.detail))


def pytest_report_teststatus(report):
    fields = getattr(report, "steertag", None)
    return status(Record(**fields)) if fields else None


@pytest.fixture
def bench(request):
    """The case's access to the target: connections, files, memory. See steertag.suite.bench."""
    found = request.node.stash.get(_CASE, None)
    if found is None:
        raise pytest.UsageError("the fixture bench is for functions with the decorator @case")
    return request.config.stash[_SESSION].bench()


class _Reporting:
    """What the controlling process (not a worker) keeps during the run."""

    def __init__(self, config, options):
        self.config = config
        self.report = Report()
        self.report.target = options.target or "bundled server"
        self.directory = options.report
        self.junit = None
        self.problems = []

    def start(self, report):
        """The first case starts JUnit; pytest has called its hooks for this report already."""
        suite_options.make_report_directory(self.directory)
        self.junit = JunitReport(self.directory / "junit.xml")
        self.junit.pytest_sessionstart()
        self.config.pluginmanager.register(self.junit, "steertag-junit")
        self.junit.pytest_runtest_logreport(report)


class _Hooks:
    """Hooks that run on reports, in the controlling process and at the end of every process."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        reporting = self._reporting
        if reporting is None or not hasattr(report, "steertag_id"):
            return
        if reporting.junit is None:
            reporting.start(report)
        if hasattr(report, "steertag"):
            reporting.report.add(Record(**report.steertag))
        stop = getattr(report, "steertag_stop", "")
        if stop:
            reporting.report.stopped = stop
            dsession = reporting.config.pluginmanager.get_plugin("dsession")
            if dsession is not None:
                dsession.shouldstop = stop

    _reporting = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session):
        self._reporting = session.config.stash.get(_REPORTING, None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem, report):
        """An xdist worker died: Steertag's own process, so it says nothing about the target."""
        reason = "harness-error: the process that ran the case died"
        report.steertag_id = crashitem
        report.steertag = vars(
            Record(crashitem, Verdict.HARNESS_ERROR.value, reason, [], [], 0.0)
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        problem = getattr(node, "workeroutput", {}).get("steertag_problem")
        if problem:
            self._reporting.problems.append(problem)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session):
        config = session.config
        problem = config.stash[_SESSION].close()
        reporting = self._reporting
        if reporting is None:
            config.workeroutput["steertag_problem"] = problem
            yield
            return
        if problem:
            reporting.problems.append(problem)
        yield from _finish(session, reporting)

    def pytest_terminal_summary(self, terminalreporter):
        reporting = self._reporting
        if reporting is None:
            return
        if reporting.report.records:
            write_summary(terminalreporter, reporting.report, reporting.directory)
        for problem in dict.fromkeys(reporting.problems):
            terminalreporter.write_line(f"ERROR: {problem}", red=True)


def _finish(session, reporting):
    """Writes the report around the other sessionfinish hooks and lets the exit code tell the truth."""
    if reporting.junit is None:
        yield
        return
    if reporting.report.executed() == 0 and session.exitstatus == pytest.ExitCode.OK:
        reporting.problems.append("no case was executed")
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    try:
        reporting.report.write(reporting.directory / "report.json")
    except OSError as error:
        reporting.problems.append(f"report directory {reporting.directory}: {error.strerror}")
    yield
    if reporting.junit.error:
        reporting.problems.append(f"junit.xml: {reporting.junit.error.strerror}")
    if reporting.problems and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

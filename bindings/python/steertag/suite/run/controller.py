"""The controlling process of a run: collects the records of all workers, writes the report, sets
the exit code."""

import datetime
import sys
import time

import pytest

from ...report_page.run_metadata import run_metadata
from ...verdict import Verdict
from ..cases.case import role_of
from ..cases.needs import is_about_another_transport
from ..cases.transport import TCP
from .baseline_check import compare_all, names_a_part
from .options import INCOMPLETE, lock_report_directory, make_report_directory
from .report import JunitReport, Record, Report
from .terminal import without_cases, write_digest, write_summary
from .time_left import TimeLeft

# Keys of a worker's final message to the controller.
WORKER_PROBLEM = "steertag_problem"
WORKER_PARTIAL = "steertag_partial"
WORKER_USAGE = "steertag_usage"  # why it runs no case: a wrong option, or no target

# pytest's exit codes if every selected case has run.
_COMPLETE = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


class Controller:
    """A pytest plugin object; registered in the controller, or in the only process."""

    def __init__(self, config, options):
        self._config = config
        self._report = Report()
        self._options = options
        self._started = datetime.datetime.now(datetime.timezone.utc)
        self._started_s = time.monotonic()
        self._time_left = TimeLeft()
        self._session = None
        self._roles = set()
        self._case_ids = {}  # of started cases, by node id
        self._name_target({"server"})
        self._report.name = options.profile.name
        self._report.software = options.profile.software
        self._report.partial = names_a_part(config)
        self._report.run_seed = options.run_seed
        self._baseline = options.baseline
        self._baseline_path = config.getoption("--baseline")
        self._comparison = None  # with the baseline, if there is one
        self._directory = options.report
        self._junit = None
        self._lock = None  # on the report directory
        self._problems = []
        self._usage = ""  # what is wrong with the command line, as a worker found

    def _name_target(self, roles):
        names = {"server": _server_name, "client": _client_name}
        self._report.target = "; ".join(names[role](self._options) for role in sorted(roles))

    def problem(self, sentence):
        """Records a failure outside of cases, which fails the run."""
        if sentence not in self._problems:
            self._problems.append(sentence)

    def tell_gaps(self, lines):
        """Prints what the run will not test."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or not lines:
            return
        self._end_line(reporter)
        for line in lines:
            reporter.write_line(line)

    def _end_line(self, reporter):
        """Ends a line of the letters of cases."""
        if self._config.get_terminal_writer().width_of_current_line:
            reporter.write_line("")

    def pytest_sessionstart(self, session):
        self._session = session

    def _tell_time_left(self):
        """Prints whole lines, which a log can hold too. With xdist, the session counts the cases of its workers."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        line = self._time_left.line_after_case(self._session.testscollected)
        if not line or reporter is None:
            return
        self._end_line(reporter)
        reporter.write_line(line)

    def partial(self):
        """Some cases were not selected, or did not run."""
        self._report.partial = True

    def _start_junit(self, report):
        """Starts JUnit at the first case. pytest has already called its hooks for this report."""
        make_report_directory(self._directory)
        self._lock = lock_report_directory(self._directory)
        if self._lock is None:
            sentence = f"report directory {self._directory}: another run writes to it"
            self.problem(sentence)
            self._stop(sentence)
            return
        self._junit = JunitReport(self._directory / "junit.xml")
        self._junit.pytest_sessionstart()
        self._config.pluginmanager.register(self._junit, "steertag-junit")
        self._junit.pytest_runtest_logreport(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        if not hasattr(report, "steertag_id"):
            return
        self.tell_gaps(getattr(report, "steertag_gaps", ()))
        if self._junit is None:
            self._start_junit(report)
        if report.steertag_id != report.nodeid:
            self._case_ids[report.nodeid] = report.steertag_id
            self._roles.add(role_of(report.steertag_id))
            self._name_target(self._roles)
        if hasattr(report, "steertag"):
            self._report.add(Record(**report.steertag))
            self._tell_time_left()
        stop = getattr(report, "steertag_stop", "")
        if stop:
            self._stop(stop)

    def _stop(self, why):
        """Starts no further case."""
        self._report.stopped = why
        session = self._config.pluginmanager.get_plugin("dsession")
        session = session or self._config.pluginmanager.get_plugin("session")
        if session is not None:
            session.shouldstop = why

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem, report):
        """An xdist worker died. It is Steertag's own process, so the target is not to blame. The
        report of the setup names the case; without one, the node id does.
        """
        reason = "the process that ran the case died"
        case_id = self._case_ids.get(crashitem, crashitem)
        report.steertag_id = case_id
        report.steertag = vars(Record(case_id, Verdict.HARNESS_ERROR.value, reason, [], [], 0.0))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        last_words = getattr(node, "workeroutput", {})
        if last_words.get(WORKER_PARTIAL):
            self.partial()
        self._usage = last_words.get(WORKER_USAGE, self._usage)
        if last_words.get(WORKER_PROBLEM):
            self.problem(last_words[WORKER_PROBLEM])

    @pytest.hookimpl(hookwrapper=True)
    def pytest_sessionfinish(self, session):
        if self._junit is not None:
            if session.exitstatus not in _COMPLETE or session.shouldfail or session.shouldstop:
                self.partial()
            self._write(session)
            self._compare(session)
            if self._options.require_complete:
                self._require_complete(session)
        yield
        if self._junit is not None and self._junit.error:
            self.problem(f"junit.xml: {self._junit.error.strerror}")
        if self._problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if session.exitstatus == pytest.ExitCode.INTERRUPTED and self._has_failed():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self._usage:
            self._problems.clear()
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _has_failed(self):
        """Whether a run that its target's end has stopped says something wrong of the target."""
        if not self._report.stopped:
            return False
        if self._comparison is not None:
            return not self._comparison.matches()
        return any(
            Verdict(each.verdict).outcome == "failed" for each in self._report.records.values()
        )

    def _write(self, session):
        if self._report.executed() == 0 and session.exitstatus == pytest.ExitCode.OK:
            self.problem("no case was executed")
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        seconds = time.monotonic() - self._started_s
        versions = {"pytest": pytest.__version__}
        self._report.metadata = run_metadata(sys.argv, self._started, seconds, versions)
        self._report.metadata["seed"] = self._options.seed
        try:
            self._report.write(self._directory / "report.json")
        except OSError as error:
            self.problem(f"report directory {self._directory}: {error.strerror}")

    def _require_complete(self, session):
        """Fails a run in which a case could not be tested, whatever its baseline says. Cases about a transport
        that the target does not have are no gap."""
        untested = (
            each
            for each in self._report.records.values()
            if each.verdict == Verdict.NOT_TESTABLE.value
        )
        missing = sum(not is_about_another_transport(each.reason) for each in untested)
        if not missing:
            return
        cases = f"{missing} of {len(self._report.records)} cases"
        self.problem(f"--require-complete: {cases} are not-testable in this run")
        if session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = INCOMPLETE

    def _compare(self, session):
        """Fails a run that differs from its baseline, whatever the outcomes of its cases."""
        if self._baseline is None:
            return
        self._comparison = compare_all(self._report, self._baseline)
        if not self._comparison.matches() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter):
        with without_cases(terminalreporter):
            yield
        if self._report.records:
            write_summary(terminalreporter, self._report, self._directory, self._comparison)
        for sentence in self._problems:
            terminalreporter.write_line(f"ERROR: {sentence}", red=True)
        if self._usage:
            print(f"ERROR: {self._usage}", file=sys.stderr)  # as pytest does in a single process

    def pytest_unconfigure(self):
        """Prints the digest behind pytest's own last line."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or not self._report.records:
            return
        write_digest(reporter, self._report, self._directory, self._comparison)
        if self._comparison is not None and not self._comparison.matches():
            reporter.write_line(
                "expected is what the baseline says, seen is what this run saw; `steertag baseline "
                f"update --from {self._directory} {self._baseline_path}` has the file say what was seen"
            )


def _server_name(options):
    if options.target:
        return options.target
    over = ["over TCP"] if options.over == TCP else []
    return " ".join(["bundled server", *over, *options.server_arguments])


def _client_name(options):
    if options.client_command:
        return f"client {options.client_command}"
    deviations = [f"--deviate {name}" for name in options.client_deviations]
    return " ".join(["bundled client, NFS version", options.client_nfs, *deviations])

"""The pytest plugin: runs cases, maps verdicts onto outcomes, writes the report.

Load it with `-p steertag.suite.plugin` (this repository's pyproject.toml does). It leaves ordinary
tests alone.
"""

import contextlib
import secrets
import sys

import pytest

import steertag

if steertag.engine_problem:
    sys.exit(f"ERROR: {steertag.engine_problem}")

from ..case_list import case_selection, selection_options
from ..case_list.case_entry import first_paragraph, first_sentence
from ..report_page.run_metadata import typed_program
from ..verdict import Verdict
from .cases.case import case_of
from .cases.expectation_source import case_problems, module_problems, modules_of
from .client import client_session
from .run import baseline_check, options as suite_options, server_session
from .run.case_session import Unreachable
from .run.contact_item import ContactItem
from .run.controller import WORKER_PARTIAL, WORKER_PROBLEM, WORKER_USAGE, Controller
from .run.gaps import find_gaps, gap_lines
from .run.execution import execute, record_of_setup, SteertagWarning
from .run.report import Record
from .run.terminal import DIFFERENT, status

_SESSIONS = pytest.StashKey()  # {role of the target: session}
_CONTROLLER = pytest.StashKey()
_CASE = pytest.StashKey()
_RECORD = pytest.StashKey()
_ROLES = pytest.StashKey()  # of collected cases; set by a collection without errors
# {role: None, or (fields of the Record, sentence) if the first contact is the result}
_MET = pytest.StashKey()
_MET_INPUT = "steertag_met"  # the same, for workers
_CONTACTS = {"server": server_session.CONTACT, "client": client_session.CONTACT}
# The roles whose gaps the worker has not told yet.
_UNTOLD = pytest.StashKey()
# The worker that tells the gaps: all workers have the same cases and target.
_TELLER = "gw0"


def pytest_addoption(parser):
    parser.prog = typed_program(sys.argv[0])  # in a message about a wrong option
    suite_options.add_options(parser)


def pytest_configure(config):
    config.addinivalue_line("markers", "steertag_case(case): set by steertag.suite.case")
    # pytest-random-order reads this option of the cacheprovider plugin even without the plugin.
    if not hasattr(config.option, "failedfirst"):
        config.option.failedfirst = False
    if config.option.run_seed is None:
        # Workers inherit the options of this process, and thus the seed.
        config.option.run_seed = secrets.randbits(32)
    options = suite_options.read_options(config)
    worker = getattr(config, "workerinput", {}).get("workerid")
    name = worker or "main"
    config.stash[_SESSIONS] = {
        "server": server_session.ServerSession(options, name),
        "client": client_session.ClientSession(options, name),
    }
    config.stash[_MET] = dict(getattr(config, "workerinput", {}).get(_MET_INPUT, {}))
    if worker is None:
        config.stash[_CONTROLLER] = Controller(config, options)
        config.pluginmanager.register(config.stash[_CONTROLLER], "steertag-reporting")
        if config.getoption("--report"):
            suite_options.make_report_directory(options.report)


def pytest_sessionstart(session):
    """Contacts a third party once before the run, also with xdist."""
    config = session.config
    suite = config.stash[_SESSIONS]["server"]
    if suite.options.target and _CONTROLLER in config.stash and not config.option.collectonly:
        _meet(config, "server")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Workers do not meet a peer whose first contact is the result."""
    met = node.config.stash[_MET].items()
    node.workerinput[_MET_INPUT] = {role: found for role, found in met if found is not None}


def _meet(config, role):
    """Contacts the peer under test once, and looks it over."""
    met, suite = config.stash[_MET], config.stash[_SESSIONS][role]
    if role in met:
        return
    met[role] = None
    try:
        suite.first_contact()
        suite.look_over()
    except Unreachable as error:
        if error.record is None:
            raise pytest.UsageError(str(error)) from None
        met[role] = vars(error.record), str(error)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session):
    """Contacts every target before the first case."""
    config = session.config
    roles = sorted(config.stash.get(_ROLES, ()))
    if config.option.collectonly:
        return
    with _usage_told(config, session.items):
        for role in roles:
            _meet(config, role)
    met = config.stash[_MET]
    broken = [role for role in roles if met.get(role) is not None]
    if broken:
        _replace_cases(session, broken[0])
    elif _CONTROLLER in config.stash:
        for role in roles:
            config.stash[_CONTROLLER].tell_gaps(_gaps_of(session, role))
    elif config.workerinput["workerid"] == _TELLER:
        config.stash[_UNTOLD] = set(roles)


def _replace_cases(session, role):
    """The first contact with the peer of this role is the result of the run."""
    fields, sentence = session.config.stash[_MET][role]
    suite, why = session.config.stash[_SESSIONS][role], f"{sentence}; no case was run"
    record = Record(**fields)
    place = {"name": record.id, "nodeid": f"contact::{record.id}"}
    item = ContactItem.from_parent(session, suite=suite, why=why, **place)
    item.stash[_CASE] = _CONTACTS[role], record.id
    item.stash[_RECORD] = record
    item.user_properties.append(("case", record.id))
    session.items[:] = [item]


@contextlib.contextmanager
def _usage_told(config, items):
    """Makes a pytest.UsageError of a worker one of the run: xdist would call it an internal error. The worker has
    no case then, as all others have none for the same reason."""
    try:
        yield
    except pytest.UsageError as error:
        if _CONTROLLER in config.stash:
            raise
        config.workeroutput[WORKER_USAGE] = str(error)
        items.clear()


def _gaps_of(session, role):
    """The paragraph on what the run will not test of the cases with this role, as lines."""
    suite = session.config.stash[_SESSIONS][role]
    found = [item.stash[_CASE] for item in session.items if _CASE in item.stash]
    cases = [each for each in found if each[0].role == role]
    return gap_lines(find_gaps(cases, suite), len(cases), suite.tcp_found)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    """Stops the bundled server; a bad exit is a problem of the run."""
    config = session.config
    problems = [suite.close() for suite in config.stash[_SESSIONS].values()]
    problem = next((each for each in problems if each), None)
    if problem is None:
        return
    if _CONTROLLER in config.stash:
        config.stash[_CONTROLLER].problem(problem)
    else:
        config.workeroutput[WORKER_PROBLEM] = problem


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    with _usage_told(config, items):
        _choose(config, items)


def _choose(config, items):
    """Finds the cases, and keeps those that the command line asks for."""
    seen = {}
    roles = set()
    for item in items:
        try:
            found = case_of(item)
        except ValueError as error:
            raise pytest.UsageError(f"{item.nodeid}: {error}") from None
        if found is None:
            continue
        case, case_id = found
        roles.add(case.role)
        if case_id in seen:
            raise pytest.UsageError(
                f"case id {case_id} is used by {seen[case_id]} and {item.nodeid}"
            )
        seen[case_id] = item.nodeid
        item.stash[_CASE] = case, case_id
        item.user_properties.append(("case", case_id))
    selection = _selection(config, items)
    if selection:
        _select(config, items, selection)
        roles = {item.stash[_CASE][0].role for item in items}
    _check_expectations(items)
    suite_options.check_roles(config.getoption, roles)
    config.stash[_ROLES] = roles
    if roles and not config.option.collectonly:
        suite_options.make_report_directory(config.stash[_SESSIONS]["server"].options.report)


def _check_expectations(items):
    """Stops the run at an unknown kind of outcome or an undeclared requirement, which is no failure of the
    target. Only what is to run is read."""
    modules, functions = {}, {}
    for item in items:
        if _CASE not in item.stash:
            continue
        if item.module not in modules:
            modules |= dict.fromkeys(modules_of(item.module))
        functions[item.function] = item.stash[_CASE][0]
    for module in modules:
        for problem in module_problems(module):
            raise pytest.UsageError(problem)
    for function, case in functions.items():
        for problem in case_problems(function, case.requirements):
            raise pytest.UsageError(f"case {case.id!r}: {problem}")


def _session_of(item):
    """The session of the case's target."""
    return item.config.stash[_SESSIONS][item.stash[_CASE][0].role]


def _selection(config, items):
    """The CaseSelection of the command line, among the collected cases."""
    found = [item.stash[_CASE] for item in items if _CASE in item.stash]
    words = [config.getoption(option) for option in ("--case", *selection_options.OPTIONS)]
    try:
        return case_selection.selection_of({id: case.requirements for case, id in found}, *words)
    except case_selection.NoSuchCases as error:
        raise pytest.UsageError(str(error)) from None


def _select(config, items, selection):
    """Keeps the cases that the selection takes, and no ordinary test."""

    def taken(item):
        case, case_id = item.stash.get(_CASE, (None, None))
        return case is not None and selection.takes(case_id, case.requirements)

    config.hook.pytest_deselected(items=[item for item in items if not taken(item)])
    items[:] = [item for item in items if taken(item)]


def pytest_deselected(items):
    """Marks the run as partial: the baseline's rows of deselected cases do not count."""
    if baseline_check.has_cases(items):
        config = items[0].config
        if _CONTROLLER in config.stash:
            config.stash[_CONTROLLER].partial()
        else:
            config.workeroutput[WORKER_PARTIAL] = True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    found = item.stash.get(_CASE, None)
    if found is None or _RECORD in item.stash:
        return
    try:
        _session_of(item).prepare(*found)
    except Unreachable as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs a case in place of pytest's own call."""
    found = pyfuncitem.stash.get(_CASE, None)
    if found is None:
        return None
    suite = _session_of(pyfuncitem)
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    pyfuncitem.stash[_RECORD] = execute(suite, lambda: pyfuncitem.obj(**arguments))
    record = pyfuncitem.stash[_RECORD]
    if record.verdict == Verdict.WARN.value:
        pyfuncitem.warn(SteertagWarning(f"{record.id}: {record.reason}"))
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Updates the case's record by a phase of pytest."""
    outcome = yield
    found = item.stash.get(_CASE, None)
    if found is None:
        return
    report = outcome.get_result()
    report.steertag_id = found[1]
    untold = item.config.stash.get(_UNTOLD, ())
    if call.when == "setup" and report.passed and found[0].role in untold:
        untold.remove(found[0].role)
        report.steertag_gaps = _gaps_of(item.session, found[0].role)
    record = item.stash.get(_RECORD, None) if call.when == "call" else None
    if record is not None:
        _apply(record, report, item, _session_of(item).options)
    elif not report.passed and call.when in ("setup", "teardown"):
        record = record_of_setup(*found, report)
        record.sentence = _sentence_of(item)
        report.steertag = vars(record)
        item.user_properties.append(("verdict", record.verdict))
    suite = _session_of(item)
    if suite.lost:
        report.steertag_stop = suite.lost
        item.session.shouldstop = suite.lost


def _sentence_of(item):
    """What the case tries, for the report."""
    return first_sentence(first_paragraph(getattr(item, "function", item).__doc__))


def _apply(record, report, item, options):
    """pytest's outcome of the call phase follows the verdict."""
    verdict = Verdict(record.verdict)
    record.seconds = report.duration
    record.sentence = _sentence_of(item)
    report.steertag = vars(record)
    for name, value in (("verdict", record.verdict), ("reason", record.reason)):
        item.user_properties.append((name, value))
    item.user_properties += [("requirement", each) for each in record.requirements]
    report.user_properties = list(item.user_properties)
    if verdict.outcome == "skipped":
        report.outcome = "skipped"
        path, line, _ = item.location
        report.longrepr = (path, (line or 0) + 1, f"{record.verdict}: {record.reason}")
    elif verdict.spoils_run or (verdict is Verdict.WARN and options.strict):
        report.outcome = "failed"
        report.longrepr = f"{record.id} ({item.location[0]})\n{record.detail}"
        report.steertag_brief = f"{record.id}: {record.verdict}: {record.reason}"
        if verdict is Verdict.HARNESS_ERROR:
            # pytest, its summary and JUnit count a failure outside of the call phase as an error.
            report.when = "setup"
    else:
        report.outcome, report.longrepr = "passed", None
    if options.baseline is not None and verdict is not Verdict.HARNESS_ERROR:
        baseline_check.apply(record, report, options.baseline)
    elif options.baseline is not None:
        record.baseline = DIFFERENT  # a defect of the suite is never expected
    if report.outcome == "passed" and record.detail:
        report.sections.append((f"steertag {record.verdict}", record.detail))


def pytest_report_teststatus(report):
    fields = getattr(report, "steertag", None)
    beside_baseline = getattr(report, "steertag_baseline", "")
    return status(Record(**fields), beside_baseline) if fields else None


@pytest.fixture
def bench(request):
    """The case's access to the target: connections, files, memory. See steertag.suite.cases.bench,
    and steertag.suite.client.client_bench for clients."""
    return _session_of(_case_item(request)).bench()


@pytest.fixture
def explorer(request):
    """A property-based case's access to the target. See steertag.properties.explorer."""
    from ..properties.explorer import Explorer

    session = _session_of(_case_item(request))
    return Explorer(session, session.options.seed)


def _case_item(request):
    """The case that requests a fixture."""
    if request.node.stash.get(_CASE, None) is None:
        name = request.fixturename
        raise pytest.UsageError(f"the fixture {name} is for functions with the decorator @case")
    return request.node

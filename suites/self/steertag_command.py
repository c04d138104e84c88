"""What tests of recordings share: runs of case files against the bundled server, and of the command."""

import contextlib
import json

import warm_runs

from steertag import build_paths
from steertag.suite.run.server_process import BundledServer

RUN_LIMIT_S = 120


def run_cases(folder, text, *arguments):
    """The folder of recordings of a run of one case file, which is removed afterwards: who plays a
    recording must not need it."""
    path = folder / "test_cases.py"
    path.write_text(text)
    words = [str(path), "-q", "-p", "steertag.suite.plugin"]
    words += ["--rootdir", str(folder), "--report", str(folder / "report")]
    done = warm_runs.completed("pytest", [*words, *arguments], folder, RUN_LIMIT_S)
    path.unlink()
    ran = done.returncode in (0, 1) and (folder / "report" / "report.json").exists()
    assert ran, done.stdout + done.stderr
    return folder / "report" / "failures"


def run_suite(folder, deviation, *case_ids, over="rdma"):
    """The recording of the last one of these cases of the server suite, which fails."""
    report = folder / "report"
    words = ["suites/server", "-q", "--report", str(report)]
    words += ["--deviate", deviation, "--strict-verdicts", "--over", over]
    for each in case_ids:
        words += ["--case", each]
    done = warm_runs.completed("pytest", words, build_paths.checkout(), RUN_LIMIT_S)
    path = report / "failures" / f"{case_ids[-1]}.steertag"
    assert path.exists(), done.stdout + done.stderr
    return path


def run_again(folder, url, case_id):
    """(verdict, reason, findings) of one case of the server suite against a server that is up."""
    report = folder / "report"
    words = ["suites/server", "-q", "--report", str(report), "--target", url, "--case", case_id]
    done = warm_runs.completed("pytest", words, build_paths.checkout(), RUN_LIMIT_S)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    (row,) = json.loads((report / "report.json").read_text())["cases"]
    return row["verdict"], row["reason"], row["findings"]


def steertag(*arguments):
    """The ended command: .returncode, .stdout, .stderr."""
    return warm_runs.completed("steertag", arguments, limit_s=RUN_LIMIT_S)


@contextlib.contextmanager
def bundled(folder, *arguments, over="rdma", listen="iwarp://127.0.0.1:0"):
    """The URL of a bundled server by this transport. It conforms without arguments."""
    program = build_paths.tool("steertag-serve")
    server = BundledServer(program, listen, arguments, folder, "apart")
    server.start()
    try:
        yield server.urls[over]
    finally:
        server.stop()

"""Runs of Python modules from a fork server, which has imported pytest and the suite.

To a run of a few cases these imports are two thirds of its processor time."""

import multiprocessing
import multiprocessing.connection
import os
import runpy
import sys
import threading

_SERVER = multiprocessing.get_context("forkserver")
# This module is imported there too, before multiprocessing gives the server's processes the path of this one.
_SERVER.set_forkserver_preload([__name__, "pytest", "steertag.suite.plugin"])
_PATH = [each for each in sys.path if each]
# multiprocessing looks after all its processes whenever one starts, and reads an exit status only once.
_PROCESSES = threading.Lock()
# pytest rewrites assertions during the import of a module; the suite's own modules have none.
PYTEST_OPTIONS = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")


class NoEnd(Exception):
    """The run did not end within its limit, and was killed."""


def run_module(module, arguments, *, folder, environment, output, errors, limit_s):
    """The exit status of `python -m module` in this folder (None: the current one). Its streams go to the files `output` and
    `errors`, which may be the same. After a signal the status is its number, negated. Raises NoEnd.

    pytest needs the PYTEST_OPTIONS."""
    words = [str(each) for each in arguments]
    process = _SERVER.Process(
        target=_run, args=(module, words, folder, dict(environment), output, errors)
    )
    with _PROCESSES:
        process.start()
    ended = multiprocessing.connection.wait([process.sentinel], limit_s)
    if not ended:
        process.kill()
        multiprocessing.connection.wait([process.sentinel])
    with _PROCESSES:
        process.join()
    if not ended:
        raise NoEnd
    return process.exitcode


def _run(module, arguments, folder, environment, output, errors):
    """Turns this process into that of the module."""
    _redirect(1, output)
    _redirect(2, errors)
    os.environ.clear()
    os.environ.update(environment)
    if folder is not None:
        os.chdir(folder)
    sys.path[:] = [os.getcwd(), *_PATH]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _redirect(stream, path):
    # Both streams may have one file: each appends to it.
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.dup2(file, stream)
    os.close(file)

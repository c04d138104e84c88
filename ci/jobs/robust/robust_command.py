"""The command line: runs of a suite in random order in, one line for each and the first difference out."""

import argparse
import contextlib
import itertools
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from ci.jobs import PROJECT
from ci.jobs.robust.load import Load, LoadEnded
from ci.jobs.steps import case_verdicts

DESCRIPTION = """\
Shows that verdicts do not depend on time, load, order, or on a network with faults. Runs a suite against our own peer
COUNT times in random order. Beside it processes use every processor, the memory and the disk. Stops at the first run
whose verdicts differ from those of REPORT, an earlier run's, or of the first.
"""
# The processes of a suite that runs alone: those for clients mostly wait.
WORKERS = {"server": 2, "client": 4}
# A use of 150 connections takes 18 s where 5 % of the packets are lost, and the usual limit is 20 s.
MORE_ARGUMENTS = {"server": (), "client": ("--client-timeout", "60")}
MOST_RUNS, MOST_SEED = 9999, 999_999_999
MOST_AT_ONCE = 64
# What the provider takes (kMostFaultPercent).
MOST_FAULTS = 25
FAULTS = "STEERTAG_ROCE_FAULTS"
DIFFERENT = 1
CANNOT_RUN = 2


class Stopped(Exception):
    """A run was not green, or had other verdicts; the text says which and how to repeat it."""


class Runner:
    """Runs the suite, or the cases of `only`, in some workers. `logs` is a folder for the report and the output of
    the last run."""

    def __init__(self, suite, over, logs, workers, only=()):
        self._suite, self._over, self.logs, self._workers = suite, over, logs, workers
        self._only = [f"--case={each}" for each in only]
        self.report = logs / "report"

    def command(self, seed):
        return [
            *("build/venv/bin/pytest", f"suites/{self._suite}", "-n", str(self._workers)),
            *("-q", "--listen", f"{self._over}://127.0.0.1:0", "--report", str(self.report)),
            *("--random-order-bucket=global", f"--random-order-seed={seed}"),
            *MORE_ARGUMENTS[self._suite],
            *self._only,
        ]

    def words(self, seed, faults):
        """The command as one types it, but without the ids of cases."""
        setting = f"{FAULTS}={faults} " if faults else ""
        command = self.command(seed)
        words = shlex.join(command[: len(command) - len(self._only)])
        more = f" and --case for each of {len(self._only)} ids" if self._only else ""
        return f"{setting}{words}{more}"

    def run(self, seed, faults):
        """The exit status and the output."""
        others = {name: value for name, value in os.environ.items() if name != FAULTS}
        setting = {FAULTS: str(faults)} if faults else {}
        done = subprocess.run(
            self.command(seed),
            cwd=PROJECT,
            env={**others, **setting},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        (self.logs / "run.log").write_text(done.stdout, encoding="utf-8")
        return done.returncode, done.stdout


def verdicts_of(runner, seed, faults, leave_out):
    """Of one run, which has to be green. Prints its line."""
    status, output = runner.run(seed, faults)
    network = f"  faults {faults} %" if faults else ""
    print(f"seed {seed:<6}{network}  {output.rstrip().rpartition(chr(10))[2]}", flush=True)
    if status:
        raise Stopped(
            f"{output}this run was not green (status {status}): {runner.words(seed, faults)}"
        )
    return list(case_verdicts.lines(runner.report, leave_out))


def compare(before, now, words):
    if found := case_verdicts.differences(before, now):
        raise Stopped("\n".join([*found, f"other verdicts than before: {words}"]))


def robust(options, runners, load):
    """Makes the runs, as many at a time as there are runners; `load` is entered already, or None."""
    leave_out = case_verdicts.EXACT_PACKETS if options.faults else ()
    before = None
    if options.report:
        before = list(case_verdicts.lines(options.report, leave_out))
    elif options.faults:
        before = verdicts_of(runners[0], options.first_seed, 0, leave_out)

    def run(runner, seed):
        now = verdicts_of(runner, seed, options.faults, leave_out)
        return now, runner.words(seed, options.faults)

    seeds = iter(range(options.first_seed, options.first_seed + options.count))
    with ThreadPoolExecutor(len(runners)) as pool:
        running = {pool.submit(run, runner, seed): runner for runner, seed in zip(runners, seeds)}
        while running:
            for ended in wait(running, return_when=FIRST_COMPLETED).done:
                runner = running.pop(ended)
                now, words = ended.result()
                if load:
                    load.check()
                before = now if before is None else before
                compare(before, now, words)
                for seed in itertools.islice(seeds, 1):
                    running[pool.submit(run, runner, seed)] = runner
    print(f"the same verdicts {options.count} times")


def runners_of(options, logs):
    """One for each run at a time, each with a folder of its own."""
    only = options.cases or ()
    if options.at_once == 1:
        return [Runner(options.suite, options.over, logs, WORKERS[options.suite], only)]
    folders = [logs / str(number) for number in range(1, options.at_once + 1)]
    for folder in folders:
        folder.mkdir()
    return [Runner(options.suite, options.over, folder, 0, only) for folder in folders]


def number_up_to(most):
    def number(text):
        value = int(text)
        if not 1 <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not from 1 to {most}")
        return value

    return number


def ids_in(name):
    """[id of a case] in the file."""
    try:
        ids = pathlib.Path(name).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"{name}: {error}") from None
    if not ids:
        raise argparse.ArgumentTypeError(f"{name} has no id of a case")
    return ids


def parse(arguments):
    parser = argparse.ArgumentParser(prog="ci/robust", description=DESCRIPTION)
    parser.add_argument("--suite", choices=WORKERS, default="server", help="default: server")
    parser.add_argument("--over", choices=("iwarp", "roce"), default="iwarp", help="default: iwarp")
    parser.add_argument(
        "--faults",
        type=number_up_to(MOST_FAULTS),
        default=0,
        metavar="PERCENT",
        help="of all packets this share is dropped, as many are doubled, swapped and cut; without REPORT a run "
        "without faults comes first",
    )
    parser.add_argument("--no-load", action="store_true", help="nothing else runs beside the suite")
    parser.add_argument(
        "--at-once",
        type=number_up_to(MOST_AT_ONCE),
        default=1,
        metavar="RUNS",
        help="runs at a time, each in one process: with --no-load they are each other's load",
    )
    parser.add_argument(
        "--cases",
        type=ids_in,
        metavar="FILE",
        help="only the cases whose ids are in the file, as `steertag cases --ids` prints them",
    )
    parser.add_argument(
        "count", nargs="?", type=number_up_to(MOST_RUNS), default=200, metavar="COUNT"
    )
    parser.add_argument(
        "first_seed", nargs="?", type=number_up_to(MOST_SEED), default=1, metavar="FIRST-SEED"
    )
    parser.add_argument("report", nargs="?", type=pathlib.Path, metavar="REPORT")
    options = parser.parse_args(arguments)
    if options.faults and options.over != "roce":
        parser.error("--faults needs --over roce")
    if options.report and not (options.report / "report.json").is_file():
        parser.error(f"{options.report} has no report.json")
    return options


def main(arguments, logs=PROJECT / "build" / "robust"):
    """Returns the exit status: 0 with the same verdicts, 1 with others, 2 if nothing can run."""
    options = parse(arguments)
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    try:
        with contextlib.nullcontext() if options.no_load else Load(logs) as load:
            robust(options, runners_of(options, logs), load)
    except Stopped as stopped:
        print(f"robust: {stopped}")
        return DIFFERENT
    except (LoadEnded, OSError) as error:
        print(f"robust: {error}", file=sys.stderr)
        return CANNOT_RUN
    return 0

"""Plays the recording of a case for clients again: the case itself, by its id, against the client."""

import json
import pathlib
import subprocess
import tempfile

from .. import suite_commands, suites_place
from ..baseline.run_report import REPORT
from ..failure import Failure
from ..suite.run.report import Record

# One case uses its client a few times, and each use has a limit of its own.
RUN_LIMIT_S = 1800
# Where the server of our own client listens, if it was one over TCP. The address in a file may be another machine's.
OVER_TCP = "tcp://127.0.0.1:0"
# pytest's exit codes after which the case has run.
_RAN = (0, 1)


def play(recording, command, profile):
    """The report.Record of the case, run once against the client with this command, or against our own
    client as it was recorded; raises Failure. A file that comes from elsewhere runs no command here.
    """
    if recording.target.command and not command:
        raise Failure(
            f"recorded with --client-command {recording.target.command!r}: give the command to run"
        )
    with tempfile.TemporaryDirectory(prefix="steertag-") as folder:
        report = pathlib.Path(folder) / "report"
        words = ["-q", "--allow-destructive", f"--case={recording.case['id']}"]
        words += [f"--report={report}", *_of_client(recording.target, command)]
        if profile is not None:
            words.append(f"--profile={profile}")
        try:
            words = suite_commands.pytest_command("client", words)
            done = subprocess.run(words, capture_output=True, text=True, timeout=RUN_LIMIT_S)
        except suites_place.NoSuites as error:
            raise Failure(str(error)) from None
        except subprocess.TimeoutExpired:
            raise Failure(f"the case did not end within {RUN_LIMIT_S} s") from None
        if done.returncode not in _RAN:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise Failure(f"the case cannot be run: {said[-1] if said else 'pytest said nothing'}")
        cases = json.loads((report / REPORT).read_text(encoding="utf-8"))["cases"]
    return Record(**cases[0])


def _of_client(target, command):
    words = [f"--client-timeout={target.timeout_s}", f"--seed={target.seed}"]
    if command:
        listen = [f"--listen={url}" for url in target.listen]
        return [*words, *listen, f"--client-command={command}"]
    if target.listen and target.listen[0].startswith("tcp:"):
        words.append(f"--listen={OVER_TCP}")
    deviations = [f"--client-deviate={name}" for name in target.deviations]
    return [*words, f"--client-nfs={target.nfs}", *deviations]

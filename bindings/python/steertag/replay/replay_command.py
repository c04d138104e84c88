"""`steertag replay FILE`: plays the recording of a failure again."""

import collections

from .. import progress
from ..failure import Failure
from ..files.escape import printable

# Exit statuses: the same verdict and reason; another one; it could not be played as it was recorded.
SAME, OTHER, NOT_REPRODUCIBLE = 0, 1, 3
# Verdicts that say nothing about the target.
_NOT_PLAYED = ("unsupported", "not-testable", "harness-error")


def add_command(commands):
    parser = commands.add_parser("replay", help="Plays the recording of a failure again")
    add_options(parser)
    parser.add_argument(
        "--show", action="store_true", help="print its messages decoded, and play nothing"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="with --show: octets below each message"
    )
    parser.set_defaults(run=run)


def add_options(parser):
    parser.add_argument("file", help="failures/CASE.steertag of a report directory")
    parser.add_argument("--target", metavar="URL", help="another target than that of the recording")
    parser.add_argument(
        "--client-command",
        metavar="COMMAND",
        help="of a recording of a case for clients: the client to run, as pytest has it",
    )
    parser.add_argument("--profile", metavar="FILE", help="YAML file with what the target declares")


def load(path):
    """The recording.Recording in a file; raises Failure."""
    from ..suite.recording.recording_file import BadRecording, read
    from .steps import listing, tidy

    try:
        recording = read(path)
    except BadRecording as error:
        raise Failure(str(error)) from None
    try:
        collections.deque(listing(tidy(recording.steps)), maxlen=0)
    except (AttributeError, LookupError, TypeError, ValueError):
        raise Failure(f"{path}: a recording of Steertag whose steps are damaged") from None
    return recording


def sentence(verdict, reason):
    return f"{verdict}: {reason}" if reason else verdict


def run(arguments):
    """Plays the recording of a failure again, or shows it; returns the exit status."""
    recording = load(arguments.file)
    if arguments.show:
        return _show(arguments.file, recording, arguments.verbose)
    of_client = is_of_client(recording, arguments)
    steps = "" if of_client else f", {len(recording.steps)} steps"
    print(f"{printable(recording.case['id'])}{steps}")
    print(f"recorded: {printable(sentence(recording.verdict, recording.reason))}")
    with progress.note("replaying: some seconds"):
        record = _play_client(recording, arguments) if of_client else _play(recording, arguments)
    print(f"replayed: {printable(sentence(record.verdict, record.reason))}")
    if record.verdict in _NOT_PLAYED:
        print("not reproducible")
        print_text(record.detail)
        return NOT_REPRODUCIBLE
    if is_same(recording, record):
        print("the same verdict and reason")
        return SAME
    print("another verdict" if record.verdict != recording.verdict else "another reason")
    if record.detail:
        print_text(record.detail)
    return OTHER


def _show(path, recording, verbose):
    from .show import script

    try:
        lines = list(script(recording, verbose))
    except (AttributeError, LookupError, TypeError, ValueError):
        raise Failure(f"{path}: a recording of Steertag whose steps are damaged") from None
    for line in lines:
        print(printable(line))
    return SAME


def is_of_client(recording, arguments):
    """Whether a client was under test; raises Failure if the arguments are for the other side."""
    of_client = recording.tests == "client"
    wrong = "--target" if of_client and arguments.target else ""
    wrong = "--client-command" if not of_client and arguments.client_command else wrong
    if wrong:
        raise Failure(f"{wrong}: the recording is of a case for {recording.tests}s")
    return of_client


def _play(recording, arguments):
    from .runner import runner_for

    with runner_for(recording.target, arguments.target, arguments.profile) as runner:
        return runner.run(recording)


def _play_client(recording, arguments):
    from .client_replay import play

    return play(recording, arguments.client_command, arguments.profile)


def print_text(text):
    """Prints lines. Parts of them may come from the file."""
    for line in text.splitlines():
        print(printable(line))


def is_same(recording, record):
    """Whether a report.Record says what the recording says."""
    from ..suite.cases.case_end import without_preparation

    reasons = (recording.reason, without_preparation(recording.reason))
    return record.verdict == recording.verdict and record.reason in reasons

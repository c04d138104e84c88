"""`steertag mutation`: the mutation score of the cases."""

import os
import pathlib
import sys

from .. import progress, suites_place
from ..failure import Failure
from .provider_choice import parted, PROVIDERS

# The exit status if a deviation was not caught, or is shown first under a wrong requirement.
FAULTY = 1
DESCRIPTION = """\
Runs a suite against each deviation of the bundled server, or of our own client. A case must catch it under the
requirement that the deviation breaks, and must show no other as the first one broken. The exit status is 0 if each is
caught so, else 1.
"""


def add_command(commands):
    parser = commands.add_parser(
        "mutation",
        help="Checks that cases catch each deviation of our own server or client",
        description=DESCRIPTION,
    )
    add = parser.add_argument
    add("--role", choices=("server", "client"), default="server", help="the deviating peer")
    add(
        "--provider",
        choices=PROVIDERS,
        help="run all over this provider, except deviations below messages of another one (default: each over one that shows it)",
    )
    add("--program", help="the peer's program (default: the built or installed one)")
    add(
        "--suite",
        type=pathlib.Path,
        metavar="FOLDER",
        help="folder of the cases for this role (default: the suite)",
    )
    add(
        "--conforming",
        type=pathlib.Path,
        metavar="JUNIT",
        help="junit.xml of a run without deviation, which says what each case claims; without it the cases are "
        "collected",
    )
    add("--report", type=pathlib.Path, default=pathlib.Path("build/deviations"), metavar="FOLDER")
    add("--junit", type=pathlib.Path, metavar="FILE", help="write the table as JUnit too")
    add("--json", type=pathlib.Path, metavar="FILE", help="write the table as JSON too")
    add(
        "--whole",
        action="store_true",
        help="also try each deviation with all cases that none has made fail so far",
    )
    add(
        "--blame",
        action="store_true",
        help="also print which deviations are first shown under another requirement than their own",
    )
    add("--jobs", type=int, default=os.cpu_count(), help="deviations at a time (%(default)s)")
    add("names", nargs="*", metavar="DEVIATION", help="only these deviations")
    parser.set_defaults(run=mutation)


def mutation(arguments):
    """Prints the table. The exit status says whether each deviation was caught, and none blamed wrongly."""
    from . import score_table
    from .deviating_peer import CannotScore

    try:
        outcomes, below = _outcomes(arguments)
    except (CannotScore, OSError) as error:
        raise Failure(str(error)) from None
    table = score_table.lines(outcomes, arguments.provider, below)
    blame = score_table.blame_lines(outcomes) if arguments.blame else ()
    print("\n".join([*table, *blame, *score_table.problems(outcomes)]))
    sys.stdout.flush()
    try:
        if arguments.junit:
            score_table.write_junit(arguments.junit, outcomes, below)
        if arguments.json:
            score_table.write_json(arguments.json, outcomes)
    except OSError as error:
        raise Failure(f"{error.filename}: {error.strerror}") from None
    return 0 if all(outcome.faultless for outcome in outcomes) else FAULTY


def _outcomes(arguments):
    """The Outcomes, and the deviations that were not tried."""
    from . import claims
    from .deviating_peer import CannotScore, chosen_deviations, list_deviations, PEERS
    from .scorer import Scorer

    peer = PEERS[arguments.role]
    program = pathlib.Path(arguments.program or peer.program).resolve()
    named = chosen_deviations(list_deviations(program), arguments.names, arguments.role)
    chosen, below = parted(named, arguments.provider)
    try:
        suite = (arguments.suite or suites_place.folder(arguments.role)).resolve()
    except suites_place.NoSuites as error:
        raise CannotScore(f"{error}; name their folder with --suite") from None
    if arguments.conforming:
        claimed = claims.from_junit(arguments.conforming)
    else:
        claimed = claims.from_suite(suite)
    rest = claims.Rest(claimed.cases) if arguments.whole else None
    report = arguments.report.resolve()
    scorer = Scorer(program, report, claimed.nodes, peer, suite, rest, arguments.provider)
    # Slow to import, and other commands do not need it.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = progress.counted(pool.map(scorer.score, chosen), len(chosen), "deviations")
        if arguments.whole:
            tried = pool.map(scorer.try_rest, outcomes)
            outcomes = progress.counted(tried, len(outcomes), "all other cases")
    return outcomes, below

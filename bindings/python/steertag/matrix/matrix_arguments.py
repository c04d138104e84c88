"""The arguments of `steertag matrix` and `steertag diff`.

The commands need the engine and are imported on use."""

import pathlib

OPERAND = (
    "report.json, its directory, a baseline file, or the name of a baseline in fixtures/baselines/"
)


def add_commands(commands):
    """Adds both commands to the subparsers."""
    parser = commands.add_parser(
        "matrix",
        help="Prints results of several targets side by side",
        description="Prints results of several targets side by side, as text or as a page. Without a target it "
        "takes all shipped baselines.",
    )
    add = parser.add_argument
    add("target", nargs="*", metavar="REPORT|BASELINE", help=OPERAND)
    add(
        "--by",
        choices=("requirement", "case"),
        default="requirement",
        help="what a row is (default: requirement)",
    )
    add("--differences", action="store_true", help="only rows in which the targets differ")
    add("--all", action="store_true", help="print rows that pass everywhere too; pages have them")
    add("--brief", action="store_true", help="print no sentences and no notes below the rows")
    add("--markdown", action="store_true", help="print the rows with findings as Markdown instead")
    add(
        "--html",
        type=pathlib.Path,
        metavar="FILE",
        help="write a page instead: one file, no network",
    )
    parser.set_defaults(run=_matrix)
    parser = commands.add_parser(
        "diff",
        help="Prints what got worse, better, new or gone between two runs or baselines",
        description="Prints what got worse, better, new or gone between two runs or baselines. Exit status 0: "
        "the same; 1: they differ; 2: they cannot be compared.",
    )
    parser.add_argument("before", metavar="A", help=OPERAND)
    parser.add_argument("after", metavar="B", help="as A, newer or other")
    parser.add_argument("--cases", action="store_true", help="print the id of each case")
    parser.set_defaults(run=_diff)


def _matrix(arguments):
    from . import matrix_commands

    return matrix_commands.matrix(arguments)


def _diff(arguments):
    from . import matrix_commands

    return matrix_commands.diff(arguments)

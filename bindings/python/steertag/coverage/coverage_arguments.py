"""The arguments of `steertag coverage` and `steertag explain`.

The commands need the engine and are imported on use."""

import pathlib


def add_commands(commands):
    _add_coverage(commands)
    parser = commands.add_parser(
        "explain",
        help="Explains requirements, sections, documents, cases and deviations",
        description="Prints what the ledger, the suites and the deviations say of each WORD. Upper and lower case "
        "are the same.",
    )
    parser.add_argument(
        "word",
        nargs="+",
        metavar="WORD",
        help="a requirement (RFC8166-4.5.1-1), section (RFC8166-4.5), document (RFC8166), case "
        "(server.header.version-zero) or deviation (grants-zero)",
    )
    parser.set_defaults(run=_explain)


def _add_coverage(commands):
    parser = commands.add_parser(
        "coverage",
        help="Prints the matrix of requirements, cases, deviations and results",
        allow_abbrev=False,
        description="Prints the matrix of requirements, cases, deviations and results. The exit status "
        "is 1 if a MUST or MUST NOT of RFC 8166, 8167, 8267, 8797 or 8881, or of the documents of iWARP, "
        "has neither case nor exemption.",
    )
    add = parser.add_argument
    add("path", nargs="*", type=pathlib.Path, help="folders of the cases (default: both suites)")
    add(
        "--report",
        type=pathlib.Path,
        action="append",
        default=[],
        metavar="REPORT",
        help="a run's report.json, or its directory, for the results; of several verdicts of a "
        "case the worst is shown",
    )
    add(
        "--deviations",
        type=pathlib.Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a file of steertag mutation --json: which case caught which deviation; may be repeated",
    )
    add("--json", type=pathlib.Path, metavar="FILE", help="write the matrix as JSON too")
    add("--html", type=pathlib.Path, metavar="FILE", help="write the matrix as a page too")
    add("--summary", action="store_true", help="print counts and open rows only")
    add(
        "--pairs",
        action="store_true",
        help="print instead which pairs of a message and its environment the cases have, or those of --report "
        "that ran; the exit status is 1 if a pair is missing",
    )
    add(
        "--unbroken-cases",
        action="store_true",
        help="print the cases that no deviation makes fail: by --deviations if all cases were tried "
        "(steertag mutation --whole), else those that claim no row that a deviation breaks",
    )
    add(
        "--strict",
        action="store_true",
        help="every level of every document must be settled, and each row and case that no deviation breaks "
        "must give a reason",
    )
    add(
        "--each-role",
        action="store_true",
        help="a row that binds both roles must be settled for each of them",
    )
    parser.set_defaults(run=_coverage)


def _coverage(arguments):
    from . import coverage_commands

    return coverage_commands.coverage(arguments)


def _explain(arguments):
    from . import explain_command

    return explain_command.explain(arguments)

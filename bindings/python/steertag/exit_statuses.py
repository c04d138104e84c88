"""The exit statuses of every command: `--help`, the man page and docs/commands.md show this table."""

# Of commands without a row of their own.
_USUAL = {0: "done"}
_OF_PYTEST = {
    0: "every case passed, or did what the baseline expects",
    1: "a case failed, or did something else than the baseline expects",
    2: "the run ended early: Ctrl-C, `-x` with `-n`, or a crash that the baseline expects; or a file of cases cannot be collected",
    3: "an error inside of pytest or of a plugin",
    4: "wrong options, an unknown name, an unusable profile or baseline, or a target that cannot be tested",
    5: "no case ran",
    6: "nothing failed, but --require-complete misses a case",
}
# Of every command but `test`, `test-client` and `serve`.
CANNOT = {2: "wrong arguments, or the command cannot do its work; one sentence says why"}
# {command: {status: meaning}}
STATUSES = {
    "test": _OF_PYTEST,
    "test-client": _OF_PYTEST,
    "serve": {
        0: "ended by SIGINT or SIGTERM, or printed what it was asked for",
        1: "cannot serve",
        2: "wrong arguments",
        70: "a deviation could not be carried out",
    },
    "grade": {
        0: "no violation",
        1: "a violation; with --strict also a warning",
        2: "a file cannot be read or is damaged, or an output was not written",
        3: "a file has no message to judge",
    },
    "cases": {0: "cases are listed", 1: "no case is as asked for"},
    "coverage": {
        0: "every row in scope is settled",
        1: "a row in scope is open, or lacks a reason",
    },
    "diff": {0: "the same", 1: "they differ"},
    "baseline check": {0: "the report is as the baseline expects", 1: "it differs"},
    "replay": {
        0: "the same verdict and reason",
        1: "another verdict or reason",
        3: "not reproducible on this target",
    },
    "mutation": {
        0: "every deviation was caught, and shown under what it breaks",
        1: "one was not caught, or is first shown under another requirement",
    },
}
SIGNALS = (
    "A signal that ends a command makes its status 128 plus the signal's number: 130 for Ctrl-C. A reader "
    "that closes a pipe early changes no status."
)


def statuses(command):
    """{status: meaning} of a command, with those that all share."""
    own = STATUSES.get(command, _USUAL)
    return own if 2 in own else dict(sorted({**own, **CANNOT}.items()))


def epilog(command):
    """The lines on exit statuses below a command's --help; for argparse.RawDescriptionHelpFormatter."""
    lines = (f"  {status:<3} {meaning}" for status, meaning in statuses(command).items())
    return "\n".join(["exit status:", *lines])


def table_rows():
    """The rows of docs/commands.md: | command | status | meaning |. Commands that share their statuses share
    the rows."""
    names = {}  # {statuses: names of commands}
    for command in (*STATUSES, "every other command"):
        names.setdefault(tuple(statuses(command).items()), []).append(command)
    for meanings, commands in names.items():
        for status, meaning in meanings:
            yield f"| {', '.join(commands)} | {status} | {meaning} |"

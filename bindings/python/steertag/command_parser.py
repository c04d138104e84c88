"""argparse's parser with suggestions for a mistyped command, and exit statuses below each command's help."""

import argparse
import re

from .exit_statuses import epilog
from .suggestions import did_you_mean

_UNKNOWN = re.compile(r"argument COMMAND: invalid choice: '(.*)' \(choose from (.*)\)")


class CommandParser(argparse.ArgumentParser):
    """Ends with one line on standard error and status 2, as argparse does."""

    def error(self, message):
        unknown = _UNKNOWN.fullmatch(message)
        if unknown is not None:
            known = re.findall(r"[\w-]+", unknown[2])
            near = did_you_mean(unknown[1], known)
            message = f"there is no command {unknown[1]!r}{near or '; steertag alone lists all'}"
            self.exit(2, f"{self.prog}: {message}\n")
        super().error(message)


def add_command(commands, name, function, **how):
    """A command without arguments, explained by the first line of its function."""
    return commands.add_parser(name, help=function.__doc__.splitlines()[0].rstrip("."), **how)


def explain_statuses(commands):
    """Adds the table of exit statuses to the help of each command, and of each of its actions."""
    for name, parser in commands.choices.items():
        actions = [each for each in parser._actions if hasattr(each, "choices") and each.choices]
        nested = next((each for each in actions if isinstance(each.choices, dict)), None)
        named = nested.choices if nested else {}
        for word, each in {
            name: parser,
            **{f"{name} {key}": to for key, to in named.items()},
        }.items():
            if "exit status" not in (each.epilog or ""):
                each.epilog = "\n\n".join(filter(None, [epilog(word), each.epilog]))
                each.formatter_class = argparse.RawDescriptionHelpFormatter

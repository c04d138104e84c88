"""The deviating peer: our own server or client, with one deviation switched on."""

import dataclasses
import json
import subprocess

from .. import build_paths
from ..suggestions import did_you_mean

LIST_LIMIT_S = 10


class CannotScore(Exception):
    """The score cannot be computed; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Peer:
    """The suite of a peer, its program, the variable that names the program, and the options of a
    run."""

    suite: str
    tool: str
    variable: str
    option: str
    more: tuple = ()

    @property
    def program(self):
        """The program of the build or of the installed package."""
        return build_paths.tool(self.tool)


PEERS = {
    "server": Peer("server", "steertag-serve", "STEERTAG_SERVE", "--deviate"),
    # An unanswered call needs no time-out as long as that for an unknown client.
    "client": Peer(
        "client", "steertag-copy", "STEERTAG_COPY", "--client-deviate", ("--client-timeout", "6")
    ),
}


@dataclasses.dataclass(frozen=True)
class Deviation:
    """A deviation and one requirement that it breaks; `also` if this is not its own requirement. `breaks`: all
    that it declares."""

    name: str
    requirement: str
    also: bool = False
    argument: str = ""  # Words of the peer's program, without which no case shows it.
    breaks: tuple = dataclasses.field(default=(), compare=False)


def list_deviations(program):
    """The deviations that the program lists: each with its own requirement, then with each further
    one."""
    command = [str(program), "--list-deviations", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIST_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotScore(f"{' '.join(command)} does not run: {error}") from None
    if done.returncode != 0:
        raise CannotScore(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
        )
    try:
        rows = json.loads(done.stdout)
        own = [_deviation(row, row["requirement"]) for row in rows]
        return own + [_deviation(row, each, True) for row in rows for each in row["also"]]
    except (ValueError, KeyError, TypeError) as error:
        raise CannotScore(f"{' '.join(command)} printed no list of deviations: {error!r}") from None


def _deviation(row, requirement, also=False):
    breaks = (row["requirement"], *row["also"])
    return Deviation(row["name"], requirement, also, row.get("argument", ""), breaks)


def chosen_deviations(deviations, names, role):
    """The deviations with these names, or all without names. Raises CannotScore for an unknown
    name."""
    known = {deviation.name for deviation in deviations}
    unknown = sorted(set(names) - known)
    if unknown:
        near = did_you_mean(unknown[0], known)
        raise CannotScore(f"the {role} has no deviation {', '.join(unknown)}{near}")
    chosen = [each for each in deviations if not names or each.name in names]
    if not chosen:
        raise CannotScore(f"the {role} has no deviations")
    return chosen

"""The table of the captures of deviations: which case each shows, and which deviations no capture shows."""

import dataclasses
import json
import subprocess

import yaml

from fixture_places import DEVIATIONS, CannotMake, build_directory

TABLE = DEVIATIONS / "cases.yaml"
PROGRAMS = {"server": "steertag-serve", "client": "steertag-copy"}
LIST_LIMIT_S = 30
HEAD = """\
# The case whose capture shows each deviation of our own server and client. `ci/fixtures choose` writes what
# ci/deviations.py has found; `ci/fixtures captures` makes the captures. `transfers`: how many whole
# transfers the file has that the client copies, where one is too few for the case to show the deviation.
# `unseen`: no capture shows it, for the reason given.
"""


@dataclasses.dataclass
class Table:
    """By role and name of the deviation the case; then by name the transfers of clients, and reasons. Server
    and client have some names in common."""

    cases: dict
    transfers: dict
    unseen: dict

    def pairs(self):
        """(role, name) of every capture."""
        return [(role, name) for role, cases in self.cases.items() for name in cases]

    def write(self):
        """Writes it in the order of the names."""
        document = {
            **{role: dict(sorted(cases.items())) for role, cases in self.cases.items()},
            "transfers": dict(sorted(self.transfers.items())),
            "unseen": dict(sorted(self.unseen.items())),
        }
        TABLE.parent.mkdir(parents=True, exist_ok=True)
        TABLE.write_text(HEAD + yaml.safe_dump(document, sort_keys=False, width=120))


def capture(role, name):
    """Where the capture of a deviation is."""
    return DEVIATIONS / role / f"{name}.pcapng"


def load():
    """The table, empty if there is none yet."""
    document = yaml.safe_load(TABLE.read_text()) if TABLE.exists() else {}
    cases = {role: document.get(role) or {} for role in PROGRAMS}
    return Table(cases, document.get("transfers") or {}, document.get("unseen") or {})


def requirements(role):
    """{name: requirement that it breaks} of what the role's program can do wrong."""
    program = build_directory() / "tools" / PROGRAMS[role]
    command = [program, "--list-deviations", "--json"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIST_LIMIT_S, check=True
        )
        return {row["name"]: row["requirement"] for row in json.loads(done.stdout)}
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise CannotMake(f"{program} does not list its deviations: {error}") from None


def choose(table, role, outcomes):
    """Takes over which case caught each deviation that the table does not have, from the rows of
    `ci/deviations.py --json`: somebody may have chosen a smaller capture. Deviations that are gone leave the
    table. Returns the names that were not caught."""
    own = requirements(role)
    cases = {name: case for name, case in table.cases[role].items() if name in own}
    table.cases[role] = cases
    missing = []
    for row in outcomes:
        name = row["name"]
        if row["requirement"] != own.get(name) or name in cases or name in table.unseen:
            continue  # or the row is of a requirement that it breaks besides
        if row["by"]:
            cases[name] = row["by"]
        else:
            missing.append(name)
    return missing

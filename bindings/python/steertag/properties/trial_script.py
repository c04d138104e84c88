"""A case that is written line by line while it runs: the printed text is exactly what ran."""

import random
import textwrap

from .. import nfs, rpc, wire
from ..suite import expect
from ..suite.cases import kinds

# Lines of one script; a conversation has some dozens.
MOST_LINES = 400


class Script:
    """The body of a case, and the names that its lines define."""

    def __init__(self, bench):
        self.lines = []
        self.names = {"bench": bench, "wire": wire, "rpc": rpc, "nfs": nfs, "random": random}
        self.names |= {"expect": expect, "kinds": kinds}
        self._count = {}

    def new(self, stem):
        """A name that the script has not used: call1, call2."""
        self._count[stem] = self._count.get(stem, 0) + 1
        return f"{stem}{self._count[stem]}"

    def do(self, line):
        """Adds a line to the script and runs it. A line that ends the case belongs to the script
        too."""
        if len(self.lines) >= MOST_LINES:
            return
        self.lines.append(line)
        exec(compile(line, "<a line of a property>", "exec"), self.names)

    def value(self, expression):
        """The value of an expression over the script's names; it is no part of the script."""
        return eval(expression, self.names)


def run_lines(lines, bench):
    """Runs the lines of a script on another bench."""
    script = Script(bench)
    for line in lines:
        script.do(line)


def case_source(case, case_id, lines, reason):
    """The text of a case file with these lines, for the suite."""
    body = textwrap.indent("\n".join(lines), "    ")
    imports = [name for name in ("nfs", "rpc", "wire") if f"{name}." in body]
    anywhere = len(case.over) > 1
    words = [name for name in ("expect", "kinds") if name in body]
    words = (["ANY"] if anywhere else []) + ["case", *words]
    head = ['"""What a property of the suite found."""', ""]
    if "random." in body:
        head += ["import random", ""]
    if imports:
        head += [f"from steertag import {', '.join(imports)}"]
    head += [f"from steertag.suite import {', '.join(words)}", "", ""]
    name = case_id.rpartition(".")[2]
    options = (", hostile=True" if case.hostile else "") + (", over=ANY" if anywhere else "")
    tolerated = f", tolerates={dict(case.tolerates)!r}" if case.tolerates else ""
    needs = f", needs={list(case.needs)!r}" if case.needs else ""
    requirements = list(case.requirements)
    head += [
        f'@case("server.found.{name}", requirements={requirements}{needs}{tolerated}{options})'
    ]
    head += [
        f"def test_found_{name.replace('-', '_')}(bench):",
        f'    """It gave: {_plain(reason)}."""',
    ]
    return "\n".join([*head, body, ""])


def _plain(reason):
    return reason.replace("\\", "/").replace('"', "'")

"""The text of `steertag explain`."""

import textwrap

from .. import ledger_places
from .. import requirements as ledger
from ..case_list.case_entry import topic_of
from .coverage_document import url

WIDTH = 100  # columns of wrapped sentences


class Explained:
    """Explains by a Matrix. `problem` says why it has no cases, or is "".

    `cases`: {id: CaseEntry}. `topics`: {topic, or side.topic: [CaseEntry]}. `deviations`: {name: [deviation of a side]}. `rows`: {requirement id: Row}.
    """

    def __init__(self, matrix, problem=""):
        self._problem = problem
        self.cases = {case.id: case for case in matrix.cases}
        self.rows = {row.requirement.id: row for row in matrix.rows}
        self.topics = {}
        for case in matrix.cases:
            topic = topic_of(case.id)
            for name in (topic, f"{case.id.partition('.')[0]}.{topic}"):
                self.topics.setdefault(name, []).append(case)
        self.deviations = {}
        for row in matrix.rows:
            for each in row.deviations:
                known = self.deviations.setdefault(each.name, [])
                if each.side not in [one.side for one in known]:
                    known.append(each)

    def requirement(self, entry):
        """The lines on a row of the ledger."""
        row = self.rows[entry.id]
        yield f"{entry.id}  {ledger.level(entry)}, {entry.role}, {entry.subject}"
        yield f"  {entry.statement}"
        yield f"  clause: {url(entry) or ledger.place(entry)}"
        yield f"  observable: {entry.observable}"
        yield f"  test: {entry.test}"
        if entry.note:
            yield f"  note: {entry.note}"
        if self._problem:
            yield f"  cases: not known, {self._problem}"
        else:
            states = ", ".join(f"{side}: {state}" for side, state in row.states.items())
            yield f"  state: {row.state} ({states})"
        yield from _exemption(entry)
        for side, why in entry.unbroken.items():
            yield f"  no deviation of the {side} breaks it: {why}"
        yield from (f"  case: {case.id}" for case in row.cases)
        yield from (f"  deviation: {each.name}: {each.sentence}" for each in row.deviations)

    def place(self, place):
        """The lines on a section or document: its rows in short, in reading order."""
        rows = ledger_places.rows_in(place)
        yield f"{place}  {len(rows)} {'requirement' if len(rows) == 1 else 'requirements'}"
        for entry in rows:
            cases = len(self.rows[entry.id].cases)
            known = "" if self._problem else f", {cases} {'case' if cases == 1 else 'cases'}"
            yield f"  {entry.id}  {ledger.level(entry)}, {entry.role}{known}"
            yield from _wrapped(entry.statement)

    def case(self, case_id):
        """The lines on a case."""
        case = self.cases[case_id]
        yield f"{case.id}  case for a {case.id.partition('.')[0]}, {case.risk}"
        yield f"  {case.summary}"
        for requirement_id in case.requirements:
            entry = self.rows[requirement_id].requirement
            yield f"  requirement: {entry.id} ({ledger.level(entry)}): {entry.statement}"
        for name, words in (("needs", case.needs), ("bugs", case.bugs)):
            if words:
                yield f"  {name}: {', '.join(words)}"
        yield from (f"  deviation: {name}" for name in self._deviations_of(case))
        yield f"  source: {case.path}"
        role = "test URL" if case.id.startswith("server.") else "test-client --listen URL"
        command = "" if case.id.startswith("server.") else " -- COMMAND"
        yield f"  run: steertag {role} --case {case.id}{command}"

    def topic(self, name):
        """The lines on the cases of a topic."""
        cases = self.topics[name]
        yield f"{name}  topic of {len(cases)} {'case' if len(cases) == 1 else 'cases'}"
        for case in cases:
            yield f"  {case.id}"
            yield from _wrapped(case.summary)

    def deviation(self, name):
        """The lines on the deviations with this name, of one side or of both."""
        for each in self.deviations[name]:
            yield f"{each.name}  deviation of our own {each.side}"
            yield f"  {each.sentence}"
            for requirement_id in (each.requirement, *each.also):
                yield f"  breaks: {ledger.citation(requirement_id)}"
            row = self.rows[each.requirement]
            yield from (f"  case: {case.id}" for case in row.cases_of(each.side))
            server, client = (
                "steertag test bundled --deviate",
                "pytest suites/client --client-deviate",
            )
            yield f"  run: {server if each.side == 'server' else client} {each.name}"

    def _deviations_of(self, case):
        """The deviations of the case's side that break a requirement of it."""
        side = case.id.partition(".")[0]
        found = [
            each.name
            for requirement_id in case.requirements
            for each in self.rows[requirement_id].deviations_of(side)
        ]
        return list(dict.fromkeys(found))


def _exemption(entry):
    if entry.exemption is None:
        return
    role = f", {entry.exemption.role}" if entry.exemption.role else ""
    yield f"  exemption: {entry.exemption.kind}{role}: {entry.exemption.why}"
    if entry.exemption.by:
        yield f"  instead: {', '.join(entry.exemption.by)}"


def _wrapped(text):
    indent = " " * 6
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)

"""The cases that claim a requirement, as pytest node ids: from a JUnit file, or by collection."""

import dataclasses
import threading
import xml.etree.ElementTree

from .deviating_peer import CannotScore


@dataclasses.dataclass(frozen=True)
class Claims:
    """`nodes`: {requirement: [node id of each case that claims it]}, sorted. `cases`: {id of a
    case: its node id}."""

    nodes: dict
    cases: dict


def from_junit(path):
    """The Claims in a JUnit file of the suite, sorted: the file has the order in which workers
    ended. Raises CannotScore."""
    found = {}  # no lists inside: a case that claims and breaks a requirement names it twice
    cases = {}
    try:
        for node, name, value in _properties(path):
            if name == "requirement":
                found.setdefault(value, {})[node] = None
            elif name == "case":
                cases[value] = node
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        raise CannotScore(f"{path} is no JUnit file of the suite: {error}") from None
    if not found:
        raise CannotScore(f"{path} names no requirement: it is no report of the suite")
    return Claims({requirement: sorted(nodes) for requirement, nodes in found.items()}, cases)


def _properties(junit):
    for test in xml.etree.ElementTree.parse(junit).iter("testcase"):
        path = "/".join(test.get("classname").split(".")) + ".py"
        for row in test.iter("property"):
            yield f"{path}::{test.get('name')}", row.get("name"), row.get("value")


def from_suite(folder):
    """The Claims of the cases below a folder. Raises CannotScore."""
    from ..suite.cases.collection import CannotCollect, collect_apart

    try:
        entries = collect_apart([folder])
    except CannotCollect as error:
        raise CannotScore(str(error)) from None
    found, cases = {}, {}
    for entry in entries:
        node = f"{entry.path}::{entry.nodeid.partition('::')[2]}"
        cases[entry.id] = node
        for requirement in entry.requirements:
            found.setdefault(requirement, set()).add(node)
    return Claims({requirement: sorted(nodes) for requirement, nodes in found.items()}, cases)


class Rest:
    """The cases that no deviation has made fail so far; shared by all runs."""

    def __init__(self, nodes):
        self._nodes = dict(nodes)
        self._lock = threading.Lock()

    def nodes(self):
        with self._lock:
            return list(self._nodes.values())

    def strike(self, ids):
        with self._lock:
            for each in ids:
                self._nodes.pop(each, None)

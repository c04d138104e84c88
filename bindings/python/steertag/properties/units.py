"""Units of a script for shrinking: a connection, a file, a call, an end of a connection.

A call goes with all its lines, so the rest stays legal. No line waits for the reply to an unsent
call, and no call lacks the chunk that its reply needs."""

import re

_NAME = re.compile(r"\b(?:conn|file|content|call|data|outcomes?)\d+\b")
_DEFINED = re.compile(r"(\w+) = ")
_COLLECT = re.compile(r"(?P<head>\w+ = \w+\.collect_sent\(\[)(?P<calls>[^]]*)\]\)")
_UNITS = re.compile(r"\b((?:conn|file|call)\d+) = ")
_ENDS = re.compile(r"conn\d+\.(close|abort)\(\)")


def units(lines):
    """The units, last first: names, and indexes of lines that end a connection."""
    found = []
    for number, line in enumerate(lines):
        defined = _UNITS.match(line)
        if defined:
            found.append(defined.group(1))
        elif _ENDS.fullmatch(line):
            found.append(number)
    return found[::-1]


def without(lines, unit):
    """The lines without a unit and without the lines that need it."""
    if isinstance(unit, int):
        return lines[:unit] + lines[unit + 1 :]
    gone, kept = {unit}, []
    if unit.startswith("file"):
        gone.add(unit.replace("file", "content"))
    for line in lines:
        line = _without_calls(line, gone)
        if line is None or gone & set(_NAME.findall(line)):
            defined = _DEFINED.match(line or "")
            if defined:
                gone.add(defined.group(1))
        else:
            kept.append(line)
    return kept


def _without_calls(line, gone):
    """A line that collects replies, without the calls of `gone`; None if none is left."""
    collect = _COLLECT.fullmatch(line)
    if collect is None:
        return line
    calls = [call for call in collect["calls"].split(", ") if call not in gone]
    return f"{collect['head']}{', '.join(calls)}])" if calls else None

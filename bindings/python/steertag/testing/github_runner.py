"""The commands that GitHub's runner obeys in the output of a step, by both of its syntaxes."""

import dataclasses
import re

_COMMANDS = {"error", "warning", "notice", "debug", "group", "endgroup", "echo", "add-mask"}
_COMMANDS |= {"add-path", "set-env", "set-output", "save-state", "add-matcher", "remove-matcher"}
_COMMANDS |= {"stop-commands"}
_OLD = re.compile(r"##\[([^\s\]]+)([^\]]*)\](.*)")


@dataclasses.dataclass(frozen=True)
class Command:
    name: str
    properties: dict
    words: str


def obeyed(output):
    """[Command] of a step's output, without stop-commands and its end."""
    token, found = None, []
    for line in output.splitlines():
        if token is not None:
            if line.strip() == f"::{token}::":
                token = None
            continue
        command = _new(line) or _old(line)
        if command is not None and command.name == "stop-commands":
            token = command.words
        elif command is not None:
            found.append(command)
    return found


def _new(line):
    """`::name key=value,key=value::words`, behind blanks only."""
    line = line.lstrip()
    head, colons, words = line[2:].partition("::")
    name, _, properties = head.partition(" ")
    if not line.startswith("::") or not colons or name.lower() not in _COMMANDS:
        return None
    return Command(name.lower(), _properties(properties, ","), _plain(words))


def _old(line):
    """`##[name key=value;key=value]words`, anywhere in a line."""
    found = _OLD.search(line)
    if found is None or found[1].lower() not in _COMMANDS:
        return None
    return Command(found[1].lower(), _properties(found[2], ";"), found[3])


def _properties(text, separator):
    pairs = (each.partition("=") for each in text.split(separator) if "=" in each)
    return {key.strip(): _plain(value, ":,") for key, _, value in pairs}


def _plain(text, others=""):
    for character in (*others, "\n", "\r", "%"):
        text = text.replace(f"%{ord(character):02X}", character)
    return text

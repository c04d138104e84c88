"""What the steps of a recording need of each other, and how they read."""

import dataclasses

from .. import wire
from ..suite.nfs_client.case_files import FILES, HELPER

_MAKERS = ("connect", "connect_tcp", "stream", "offer", "callbacks")
# Those that are made on a connection.
_OF_CONNECTION = ("offer", "callbacks")
# Octets shown of what is no message.
_SHOWN = 64


def tidy(steps):
    """The steps without those that need one that is not there."""
    things, numbers, kept = {FILES, HELPER, ""}, set(), []
    for step in steps:
        step = _tidied(step, things, numbers)
        if step is None:
            continue
        if step.kind in _MAKERS:
            things.add(step.subject)
        numbers.add(step.number)
        kept.append(step)
    return kept


def _tidied(step, things, numbers):
    """The step as it can stay, or None."""
    fields = step.fields
    if step.kind not in _MAKERS and step.subject not in things:
        return None
    if step.kind in _OF_CONNECTION and fields["conn"] not in things:
        return None
    if not _is_there(fields.get("message"), numbers):
        return None
    if step.kind == "raw" and not all(
        each in things for each in fields["arguments"] if isinstance(each, str)
    ):
        return None
    if "calls" in fields:
        calls = [call for call in fields["calls"] if _is_there(call, numbers)]
        return dataclasses.replace(step, fields={**fields, "calls": calls}) if calls else None
    if step.kind == "expect":
        return step if fields["seen"][0] in numbers else None
    if step.kind == "check":
        return _tidied_check(step, things, numbers)
    return step


def _tidied_check(step, things, numbers):
    """A check with what is left of its sources and surroundings."""
    fields = step.fields
    sources = [each for each in fields["sources"] if each[0][0] in numbers | things]
    around = [each for each in fields["around"] if each[0][0] in numbers]
    # What is nearest stands first; without the rest less has to be alike.
    if around[:1] != fields["around"][:1] or not (sources or around):
        return None
    return dataclasses.replace(step, fields={**fields, "sources": sources, "around": around})


def _is_there(message, numbers):
    return not isinstance(message, dict) or "sent" not in message or message["sent"] in numbers


# -- for the reader --------------------------------------------------------------------------------


def listing(steps):
    """Lines that tell what the steps do, messages in words below them."""
    for step in steps:
        yield _line(step)
        octets = _message_of(step)
        if octets is not None:
            yield from (f"        {line}" for line in wire.describe(octets).splitlines())


def _message_of(step):
    message = step.fields.get("message")
    if step.kind != "send" or not step.subject.startswith(("c", HELPER)):
        return None
    return message["octets"] if isinstance(message, dict) else message


def _line(step):
    fields = step.fields
    where = f"{step.number:>4} {step.subject or '-':<6} "
    if step.kind == "expect":
        words = ", ".join(
            f"{name} {' '.join(fields[name])}"
            for name in ("must", "should", "latitude", "warn")
            if fields.get(name)
        )
        return f"{where}expect {fields['requirement']} of step {fields['seen'][0]}: {words}"
    if step.kind == "check":
        return f"{where}check {fields['reason']}"
    shown = [f"{name}={_shown(value)}" for name, value in fields.items() if name != "message"]
    octets = _message_of(step)
    if octets is not None:
        shown.insert(0, f"{len(octets)} octets")
    came = step.came.get("kind") if isinstance(step.came, dict) else None
    return f"{where}{step.kind} {' '.join(shown)}".rstrip() + (f" -> {came}" if came else "")


def _shown(value):
    if isinstance(value, bytes):
        more = " ..." if len(value) > _SHOWN else ""
        return f"{len(value)} octets [{value[:_SHOWN].hex(' ', 4)}{more}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{name}={_shown(each)}" for name, each in value.items())
        return f"({inner})"
    if isinstance(value, list):
        return "[" + ", ".join(_shown(each) for each in value) + "]"
    return str(value)

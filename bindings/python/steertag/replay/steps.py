"""What the steps of a recording need of each other, and how they read."""

from .. import wire

_MAKERS = ("connect", "connect_tcp", "stream", "memory")
# Octets shown of what is no message.
_SHOWN = 64


def tidy(steps):
    """The steps without those that need one that is not there."""
    things, kept = {""}, []
    for step in steps:
        if not _is_complete(step, things):
            continue
        if step.kind in _MAKERS:
            things.add(step.subject)
        kept.append(step)
    return kept


def _is_complete(step, things):
    """Whether there is what the step is about. The file helper is always there."""
    needed = [step.fields["conn"]] if "conn" in step.fields else []
    if step.kind not in _MAKERS:
        needed.append(step.subject)
    if step.kind == "raw":
        needed += [each for each in step.fields["arguments"] if isinstance(each, str)]
    return all(each in things or each.startswith("h") for each in needed)


# -- for the reader --------------------------------------------------------------------------------


def listing(steps):
    """Lines that tell what the steps do, messages in words below them."""
    for step in steps:
        yield _line(step)
        if is_message(step):
            described = wire.describe(step.fields["octets"])
            yield from (f"        {line}" for line in described.splitlines())


def is_message(step):
    """Whether the step is a message of a connection over RDMA, or one that is like it."""
    return (
        step.kind in ("send", "received")
        and step.subject[:1] in ("c", "h")
        and "fragments" not in step.fields
    )


def _line(step):
    fields = step.fields
    where = f"{step.number:>4} {step.subject or '-':<6} "
    if step.kind == "expect":
        words = ", ".join(
            f"{name} {' '.join(fields[name])}"
            for name in ("must", "should", "latitude", "warn")
            if fields.get(name)
        )
        seen = fields["seen"]
        what = "no answer" if seen is None else f"step {seen}"
        return f"{where}expect {fields['requirement']} of {what}: {words}"
    if step.kind == "check":
        return f"{where}check {fields['reason']}"
    shown = [f"{name}={_shown(value)}" for name, value in fields.items() if name != "octets"]
    if "octets" in fields:
        octets = fields["octets"]
        shown.insert(0, f"{len(octets)} octets" if is_message(step) else _shown(octets))
    return f"{where}{step.kind} {' '.join(shown)}".rstrip()


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

"""What one caller expects of its directory: after each call, and while one is in flight."""

from __future__ import annotations

import copy
import dataclasses


@dataclasses.dataclass
class File:
    """A regular file. `content` is what is permanent. `pending` are writes whose octets may be there, in any
    part; the first call that makes them permanent applies them."""

    mode: int
    content: bytearray = dataclasses.field(default_factory=bytearray)
    pending: list[tuple[int, bytes]] = dataclasses.field(default_factory=list)

    def settle(self) -> None:
        """All that was written is permanent."""
        for offset, data in self.pending:
            _overlay(self.content, offset, data)
        self.pending.clear()

    def resize(self, length: int) -> None:
        self.settle()
        self.content.extend(bytes(max(0, length - len(self.content))))
        del self.content[length:]

    def fault(self, mode: int | None, found: bytes) -> str:
        """What is wrong with a file as it was found, or nothing. None is a mode that may be any."""
        if mode is not None and mode != self.mode:
            return f"has mode {mode:04o} instead of {self.mode:04o}"
        longest = max([len(self.content), *(at + len(data) for at, data in self.pending)])
        if not len(self.content) <= len(found) <= longest:
            return f"has {len(found)} octets instead of {len(self.content)}"
        allowed = [bytes(self.content)]
        for offset, data in self.pending:
            whole = bytearray(allowed[-1])
            _overlay(whole, offset, data)
            allowed.append(bytes(whole))
        if found in allowed:
            return ""
        for at, octet in enumerate(found):
            # Where nothing permanent was, zeros may be.
            choices = {one[at] if at < len(one) else 0 for one in allowed}
            if octet not in choices:
                return f"has octet {octet:#04x} at {at} instead of {allowed[-1][at]:#04x}"
        return ""


@dataclasses.dataclass
class Link:
    """A symbolic link."""

    text: str


@dataclasses.dataclass
class Directory:
    """A directory; its entries are those of the tree below its name."""

    mode: int


class Tree:
    """Objects by path. Two names of one file are one object."""

    def __init__(self) -> None:
        self.objects = {}

    def copy(self) -> Tree:
        return copy.deepcopy(self)

    def faults(self, found: Tree, loose: str = "") -> list[str]:
        """How a tree as it was found differs. The mode of the object at the path `loose` may be any: it is
        being made or changed."""
        faults = []
        for path in sorted(self.objects.keys() | found.objects.keys()):
            expected, there = self.objects.get(path), found.objects.get(path)
            if expected is None:
                faults.append(f"{path} is there")
            elif there is None:
                faults.append(f"{path} is missing")
            elif fault := _fault(expected, there, path == loose):
                faults.append(f"{path} {fault}")
        return faults


def _fault(expected: object, there: object, loose: bool) -> str:
    if type(expected) is not type(there):
        return f"is a {type(there).__name__} instead of a {type(expected).__name__}"
    if isinstance(expected, File):
        return expected.fault(None if loose else there.mode, bytes(there.content))
    if isinstance(expected, Directory) and not loose and expected.mode != there.mode:
        return f"has mode {there.mode:04o} instead of {expected.mode:04o}"
    if isinstance(expected, Link) and expected.text != there.text:
        return f"points to {there.text} instead of {expected.text}"
    return ""


def _overlay(content: bytearray, offset: int, data: bytes) -> None:
    content.extend(bytes(max(0, offset + len(data) - len(content))))
    content[offset : offset + len(data)] = data

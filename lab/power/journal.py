"""What a caller did, what was acknowledged and when, and what a disk has to have of it."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable

from lab.power.tree import Tree


@dataclasses.dataclass(frozen=True)
class Act:
    """One call: what it is called, what it makes of the tree, the path that it makes or changes. `begin` is
    what may be there before it is acknowledged, beside nothing or all."""

    name: str
    path: str
    apply: Callable[[Tree], None]
    begin: Callable[[Tree], None] = lambda tree: None


class Journal:
    """The acts of one caller, one after the other."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.acknowledged = []  # the log's length when the reply was here, by act
        self._acts = []
        self._trees = [Tree()]  # before the first act, and behind each

    @property
    def tree(self) -> Tree:
        """What is expected now."""
        return self._trees[-1]

    def acknowledge(self, act: Act, log_bytes: int) -> None:
        tree = self.tree.copy()
        act.apply(tree)
        self._acts.append(act)
        self._trees.append(tree)
        self.acknowledged.append(log_bytes)

    def count_at(self, log_bytes: int) -> int:
        """How many acts were acknowledged when the log had this length."""
        return bisect.bisect_right(self.acknowledged, log_bytes)

    def losses(self, found: Tree, log_bytes: int) -> list[str]:
        """What is wrong with a disk that was cut off when the log had this length. Beyond what was
        acknowledged there may be the one call that was in flight."""
        count = self.count_at(log_bytes)
        last = self._acts[count - 1].name if count else "nothing"
        faults = self._trees[count].faults(found)
        if not faults:
            return []
        if count < len(self._acts):
            act = self._acts[count]
            begun = self._trees[count].copy()
            act.begin(begun)
            for tree in (begun, self._trees[count + 1]):
                if not tree.faults(found, act.path):
                    return []
            last += f", in flight: {act.name}"
        return [f"{self.directory}/{fault} (acknowledged last: {last})" for fault in faults]

"""The rule for includes: a folder uses what ARCHITECTURE.md's table lets it use, and links what it includes."""

import re

# | `engine/wire/` | responsible for | may use |
_ROW = re.compile(r"^\| `([a-z/]+)/` \|.*\| ([^|]+) \|$", re.MULTILINE)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_TEST_LIBRARY = re.compile(r"^#include <(gtest|gmock|rapidcheck)", re.MULTILINE)
_LIBRARY = re.compile(r"steertag_library\((\w+)\s(.*?)\)", re.DOTALL)
_ENGINE = "engine/"
# Only headers: nothing to link.
_WITHOUT_LIBRARY = {"support"}
# The reference peers are each other's counterparts in tests.
_PEERS = {"endpoint", "client", "server", "deviations"}


class BadTable(Exception):
    """ARCHITECTURE.md's table cannot be used; the text is one sentence."""


class Table:
    """Which engine folders each folder may use, from the table in ARCHITECTURE.md."""

    def __init__(self, text):
        rows = _ROW.findall(text)
        self._order = [name.removeprefix(_ENGINE) for name, _ in rows if name.startswith(_ENGINE)]
        self._uses = {name: self._used(name, cell) for name, cell in rows}
        if not self._order:
            raise BadTable("ARCHITECTURE.md: no table of folders was found")

    def _used(self, name, cell):
        words = {word.strip() for word in cell.split(",")} - {"-"}
        if "engine" in words:
            return set(self._order)
        unknown = words - set(self._order)
        if name.startswith(_ENGINE) and unknown:
            raise BadTable(
                f"ARCHITECTURE.md: {name} may use {min(unknown)}, which is no engine folder"
            )
        return words

    def folder_of(self, path):
        """The row that a file belongs to, or None."""
        return next((name for name in self._uses if path.startswith(f"{name}/")), None)

    def allowed(self, folder, test):
        """The engine folders that a file of `folder` may include. A test may include all above its own."""
        own = folder.removeprefix(_ENGINE)
        allowed = self._uses[folder] | {own}
        if test and own in self._order:
            allowed |= set(self._order[: self._order.index(own)])
        if test and own in _PEERS:
            allowed |= _PEERS
        return allowed

    def included(self, text):
        """The engine folders that a source includes, each with one of the includes."""
        found = {include.split("/")[0]: include for include in _INCLUDE.findall(text)}
        return {folder: found[folder] for folder in self._order if folder in found}


def is_test(name, text):
    """Whether a source belongs to tests or fuzzers, helpers included."""
    placed = name.endswith("_test.cpp") or "/testing/" in name or "/fuzz/" in name
    return placed or bool(_TEST_LIBRARY.search(text))


def include_problems(sources, table):
    """Sentences about includes against the table. `sources` maps paths to texts."""
    for name, text in sources.items():
        folder = table.folder_of(name)
        if folder is None:
            continue
        for include in _INCLUDE.findall(text):
            if ".." in include.split("/"):
                yield f"{name}: includes {include}: write the path from the engine's folder"
        allowed = table.allowed(folder, is_test(name, text))
        for used, include in table.included(text).items():
            if used not in allowed:
                yield f"{name}: includes {include}, but {folder} may not use {used} (ARCHITECTURE.md)"


def link_problems(sources, lists, table):
    """Sentences about engine folders whose library does not link what they include. `lists` maps the
    paths of CMakeLists.txt to their texts."""
    needed = {}
    for name, text in sources.items():
        folder = table.folder_of(name)
        if folder is not None and folder.startswith(_ENGINE) and not is_test(name, text):
            needed.setdefault(folder, set()).update(table.included(text))
    for folder, used in needed.items():
        own = folder.removeprefix(_ENGINE)
        for path, text in lists.items():
            found = _LIBRARY.search(text) if path == f"{folder}/CMakeLists.txt" else None
            if found is None or found[1] != own:
                continue
            links = set(found[2].partition("LINKS")[2].split())
            for missing in sorted(used - _WITHOUT_LIBRARY - {own}):
                if f"steertag_{missing}" not in links:
                    yield f"{path}: steertag_{own} includes {missing} but does not link it"

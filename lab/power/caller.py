"""A caller: random changes in a directory of its own, one call at a time, with a journal of the replies. Names are those
of NFSv3; data go over NFSv3 and NFSv4.1."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from lab.failure import LabFailure
from lab.power.journal import Act, Journal
from lab.power.nfs3 import FILE_SYNC, UNSTABLE, Nfs3
from lab.power.nfs41 import Nfs41
from lab.power.tree import Directory, File, Link, Tree

PARTS = ("a", "b")  # between which names are moved
MOST_OBJECTS = 20
MOST_FILE_BYTES = 40_000
MOST_WRITE_BYTES = 12_000
MODES = (0o600, 0o640, 0o644, 0o700, 0o755)  # whose owner may read
# How often each is done: names are cheap to make, and what is written is what counts.
SHARES = {"create": 4, "make_directory": 1, "make_symlink": 1, "link": 1, "rename": 3, "remove": 2}
SHARES |= {"write": 6, "write_later": 4, "commit": 4, "set_mode": 2, "resize": 2}
V3, V41 = "NFSv3", "NFSv4.1"
SHARE_OF_V41 = 0.5  # of WRITE and COMMIT


class Caller:
    """`log_bytes` tells how long the log of the disk's writes is now. With `nfs41` some of what is written and committed
    goes over that."""

    def __init__(
        self,
        nfs: Nfs3,
        name: str,
        rng: random.Random,
        log_bytes: Callable[[], int],
        nfs41: Nfs41 | None = None,
    ) -> None:
        self.journal = Journal(name)
        self._nfs = nfs
        self._nfs41 = nfs41
        self._rng = rng
        self._log_bytes = log_bytes
        self._names = 0
        self._verifiers = {}  # by version
        self._handles = {"": nfs.make_directory(nfs.root, name, 0o755)}
        self._done("", "MKDIR", lambda tree: tree.objects.update({"": Directory(0o755)}))
        for part in PARTS:
            self._make_directory(part)

    def work(self, count: int, deadline: float) -> None:
        """Random calls until so many are acknowledged; a LabFailure at the deadline."""
        choices, weights = zip(*SHARES.items())
        while len(self.journal.acknowledged) < count:
            if time.monotonic() > deadline:
                raise LabFailure(f"{len(self.journal.acknowledged)} of {count} calls took too long")
            (choice,) = self._rng.choices(choices, weights)
            getattr(self, f"_{choice}")()

    # -- calls ----------------------------------------------------------------------------------------

    def _create(self) -> None:
        path, mode = self._new_path(), self._rng.choice(MODES)
        if path is None:
            return self._remove()
        self._handles[path] = self._nfs.create(*self._place(path), mode)
        self._done(path, "CREATE", lambda tree: tree.objects.update({path: File(mode)}))

    def _make_directory(self, path: str | None = None) -> None:
        path, mode = path or self._new_path(), self._rng.choice((0o700, 0o755))
        if path is None:
            return
        self._handles[path] = self._nfs.make_directory(*self._place(path), mode)
        self._done(path, "MKDIR", lambda tree: tree.objects.update({path: Directory(mode)}))

    def _make_symlink(self) -> None:
        path = self._new_path()
        if path is None:
            return
        # A long text is in a block of its own.
        text = f"to-{self._names}-" + "x" * self._rng.choice((1, 200))
        self._nfs.make_symlink(*self._place(path), text)
        self._done(path, "SYMLINK", lambda tree: tree.objects.update({path: Link(text)}))

    def _link(self) -> None:
        source, path = self._any(File), self._new_path()
        if source is None or path is None:
            return
        self._nfs.link(self._handles[source], *self._place(path))
        self._handles[path] = self._handles[source]
        self._done(path, "LINK", lambda tree: tree.objects.update({path: tree.objects[source]}))

    def _rename(self) -> None:
        source = self._any(File, Link)
        path = self._any(File) if self._rng.random() < 0.3 else self._new_path()
        if source is None or path is None:
            return
        objects = self.journal.tree.objects
        if objects.get(path) is objects[source]:
            return  # two names of one file: RENAME does nothing (RFC 1813 3.3.14)
        self._nfs.rename(*self._place(source), *self._place(path))
        self._handles.pop(path, None)
        if source in self._handles:
            self._handles[path] = self._handles.pop(source)
        self._done(path, "RENAME", lambda tree: _move(tree, source, path))

    def _remove(self) -> None:
        path = self._any(File, Link, Directory)
        if path is None:
            return
        if isinstance(self.journal.tree.objects[path], Directory):
            self._nfs.remove_directory(*self._place(path))
            name = "RMDIR"
        else:
            self._nfs.remove(*self._place(path))
            name = "REMOVE"
        self._handles.pop(path, None)
        self._done(path, name, lambda tree: tree.objects.pop(path))

    def _write(self) -> None:
        path = self._any(File)
        if path is None:
            return
        offset, data = self._data()
        version = self._write_by(path, offset, data, FILE_SYNC)

        def begin(tree: Tree) -> None:
            tree.objects[path].pending.append((offset, data))

        def apply(tree: Tree) -> None:
            begin(tree)
            tree.objects[path].settle()

        self._done(path, f"{version} WRITE FILE_SYNC", apply, begin)

    def _write_later(self) -> None:
        path = self._any(File)
        if path is None:
            return
        offset, data = self._data()
        version = self._write_by(path, offset, data, UNSTABLE)

        def begin(tree: Tree) -> None:
            tree.objects[path].pending.append((offset, data))

        self._done(path, f"{version} WRITE UNSTABLE", begin, begin)

    def _commit(self) -> None:
        path = self._any(File, where=lambda file: file.pending)
        if path is None:
            return
        version = self._commit_by(path)
        self._done(path, f"{version} COMMIT", lambda tree: tree.objects[path].settle())

    def _set_mode(self) -> None:
        path, mode = self._any(File, Directory), self._rng.choice(MODES)
        if path is None:
            return
        self._nfs.set_attributes(self._handles[path], mode=mode)
        self._done(path, "SETATTR mode", lambda tree: setattr(tree.objects[path], "mode", mode))

    def _resize(self) -> None:
        path = self._any(File, where=lambda file: not file.pending)
        if path is None:
            return
        size = self._rng.randrange(MOST_FILE_BYTES)
        self._nfs.set_attributes(self._handles[path], size=size)

        def begin(tree: Tree) -> None:
            # ext4 clears the rest of the last block before the new size is permanent.
            file = tree.objects[path]
            if size < len(file.content):
                file.pending.append((size, bytes(len(file.content) - size)))

        def apply(tree: Tree) -> None:
            tree.objects[path].resize(size)

        self._done(path, "SETATTR size", apply, begin)

    # -- helpers --------------------------------------------------------------------------------------

    def _done(
        self,
        path: str,
        name: str,
        apply: Callable[[Tree], object],
        begin: Callable[[Tree], None] = lambda tree: None,
    ) -> None:
        number = len(self.journal.acknowledged)
        act = Act(f"call {number}, {name} {path}", path, apply, begin)
        self.journal.acknowledge(act, self._log_bytes())

    def _write_by(self, path: str, offset: int, data: bytes, stable: int) -> str:
        """WRITE over either version, whose name it returns."""
        if self._takes_41():
            verifier = self._nfs41.write(self._whole(path), offset, data, stable)
            return self._verified(V41, verifier)
        return self._verified(V3, self._nfs.write(self._handles[path], offset, data, stable))

    def _commit_by(self, path: str) -> str:
        """COMMIT likewise, whichever version has written."""
        if self._takes_41():
            return self._verified(V41, self._nfs41.commit(self._whole(path)))
        return self._verified(V3, self._nfs.commit(self._handles[path]))

    def _takes_41(self) -> bool:
        return self._nfs41 is not None and self._rng.random() < SHARE_OF_V41

    def _whole(self, path: str) -> str:
        """The path in the export."""
        return f"{self.journal.directory}/{path}"

    def _verified(self, version: str, verifier: bytes) -> str:
        """The version, whose verifier has to stay."""
        if self._verifiers.setdefault(version, verifier) != verifier:
            raise LabFailure("the server's write verifier changed, though it did not restart")
        return version

    def _any(self, *types: type, where: Callable[[object], object] = lambda _: True) -> str | None:
        """The path of an object of these types, of those that are changed."""
        kept = ("", *PARTS)
        paths = [
            path
            for path, one in self.journal.tree.objects.items()
            if path not in kept and isinstance(one, types) and where(one)
        ]
        return self._rng.choice(paths) if paths else None

    def _new_path(self) -> str | None:
        if len(self.journal.tree.objects) >= MOST_OBJECTS:
            return None
        self._names += 1
        return f"{self._rng.choice(PARTS)}/n{self._names}"

    def _place(self, path: str) -> tuple[bytes, str]:
        """The directory's handle and the name in it."""
        directory, _, name = path.rpartition("/")
        return self._handles[directory], name

    def _data(self) -> tuple[int, bytes]:
        length = self._rng.randint(1, MOST_WRITE_BYTES)
        return self._rng.randrange(MOST_FILE_BYTES - length), self._rng.randbytes(length)


def _move(tree: Tree, source: str, target: str) -> None:
    tree.objects[target] = tree.objects.pop(source)

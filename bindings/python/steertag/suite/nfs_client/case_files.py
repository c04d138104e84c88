"""Files for cases, made over a helper connection with plain legal calls and removed after the case."""

import contextlib

from ..cases import kinds
from ..cases.case_end import unprepared
from ..recording.taps import tap_helper

# Data octets of one inline WRITE or READ: with all headers it fits a threshold of 4096 octets.
INLINE_DATA = 3072
# Data octets of an inline WRITE or READ for a target with thresholds of 1024 octets.
SMALL_INLINE_DATA = 512
# Calls that read a file back; a target that never says eof ends here.
MOST_READS = 4096
# Listings of one directory, and levels of directories, that are removed after a case.
MOST_LISTINGS = 64
MOST_DEPTH = 4
# Names that are removed so after a case: a target may list new ones in every directory.
MOST_REMOVED = 1024
# Names of the cases' directories start with this.
PREFIX = "steertag-"


class Files:
    """Makes files, links and directories below a directory of the case's own."""

    def __init__(self, target, link, deadlines, case_id, log, make_calls):
        """`log` is the recorder.Recorder of the case. `make_calls(helper)` gives the calls of a version of
        NFS, such as Nfs3FileCalls; `helper()` gives the helper connection."""
        self._log = log
        self._make_calls = make_calls
        self._target = target
        self._link = link
        self._deadlines = deadlines
        self._stem = f"{PREFIX}{case_id}-{link.unique}"
        self._conn = None
        self._calls = make_calls(lambda: self.conn)
        self._root = None
        self._directory = None
        self._made = []  # (directory handle, name, is a directory), in order
        self._count = 0
        self._removed = 0  # names in directories, see MOST_REMOVED

    @property
    def conn(self):
        """The helper connection: neither judged nor captured."""
        if self._conn is None or not self._conn.open:
            self._conn = self._link.helper(self._deadlines)
            self._conn.patient = True
            tap_helper(self._log, self._conn)
        return self._conn

    @contextlib.contextmanager
    def _apart(self):
        """Calls that are no part of the log. They use no slot of those that are."""
        with self._log.paused():
            calls = self._make_calls(lambda: self.conn)
            yield calls
            calls.end()

    def move_to(self, link):
        """The target is at another link, after a restart. Handles stay as they are."""
        if self._conn is not None:
            self._conn.abort()
        self._link, self._conn = link, None
        self._calls = self._make_calls(lambda: self.conn)

    @property
    def root(self):
        """The export's root file handle."""
        if self._root is None:
            with self._apart() as calls:
                self._root = calls.root(self._target, self._deadlines)
            self._log.given("root", self._root)
        return self._root

    @property
    def base_name(self):
        """The name of `base` in the export's root, where it is from now on."""
        self.base  # pylint: disable=pointless-statement
        return self._stem

    @property
    def base(self):
        """The directory of this case, made when first needed."""
        if self._directory is None:
            root = self.root
            with self._apart() as calls:
                self._directory = calls.make_directory(root, self._stem)
            self._made.append((root, self._stem, True))
            self._log.given("base", self._directory)
            self._log.given("base_name", self._stem)
        return self._directory

    def name(self, stem):
        """A name that is not in use in `base`."""
        self._count += 1
        return f"{stem}-{self._count}"

    def file(self, content, name=None):
        """The handle of a new file."""
        return self._made_entry(name or self.name("file"), "make_file", content, self._data_step())

    def sparse_file(self, length, name=None):
        """The handle of a new file of `length` octets, all zero, made without sending them."""
        return self._made_entry(name or self.name("file"), "make_sparse_file", length)

    def symlink(self, text, name=None):
        """The handle of a new symbolic link with this text (str, or octets)."""
        return self._made_entry(name or self.name("link"), "make_symlink", text)

    def directory(self, name=None):
        """The handle of a new directory."""
        name = name or self.name("directory")
        made = self._calls.make_directory(self.base, name)
        self._made.append((self.base, name, True))
        return made

    def _made_entry(self, name, make, *how):
        made = getattr(self._calls, make)(self.base, name, *how)
        self._made.append((self.base, name, False))
        return made

    def descend(self):
        """From here on files are made in a new directory. No other client changes its parent."""
        self._directory = self.directory()

    def read(self, handle):
        """The whole content of a file."""
        content = bytearray()
        step = self._data_step()
        for _ in range(MOST_READS):
            octets, has_ended = self._calls.read(handle, len(content), step)
            if len(octets) > step:
                raise self._garbage(f"READ of {step} octets gives {len(octets)}")
            content += octets
            if has_ended:
                return bytes(content)
        raise self._garbage(f"{MOST_READS} READs of a file come to no end")

    def _garbage(self, detail):
        """The end of a case whose file is not read back."""
        return unprepared(self._conn.owed, "READ", kinds.GARBAGE, detail)

    def clean_up(self):
        """Removes what was made, last first. What a case itself removed or filled is not an error."""
        made, self._made = self._made, []
        for parent, name, is_directory in reversed(made):
            if is_directory:
                self._empty(self._calls.look_up(parent, name))
                self._calls.remove_directory(parent, name)
            else:
                self._calls.remove(parent, name)
        self._directory = None

    def _empty(self, directory, depth=0):
        """Removes what a case, or a replay, made in a directory by itself."""
        for _ in range(MOST_LISTINGS):
            names = self._calls.names(directory, SMALL_INLINE_DATA) if directory else ()
            removed = [name for name in names if self._remove(directory, name, depth)]
            if not removed:
                return

    def _remove(self, directory, name, depth):
        """Whether the entry is gone."""
        self._removed += 1
        if self._removed > MOST_REMOVED:
            return False
        if self._calls.remove(directory, name):
            return True
        if depth < MOST_DEPTH:
            self._empty(self._calls.look_up(directory, name), depth + 1)
        return self._calls.remove_directory(directory, name)

    def close(self):
        """Ends the helper connection."""
        if self._conn is not None:
            self._calls.end()
            self._conn.abort()

    def _data_step(self):
        return INLINE_DATA if self.conn.inline_octets >= 4096 else SMALL_INLINE_DATA

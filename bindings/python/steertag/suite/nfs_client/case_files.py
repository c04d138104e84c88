"""Files for cases, made over a helper connection with plain legal calls and removed after the case."""

from ..cases import kinds
from ..cases.case_end import unprepared
from ..recording.taps import tap_helper
from .mount import mount

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
_FILE_SYNC = 2


class Files:
    """Makes files, links and directories below a directory of the case's own."""

    def __init__(self, target, link, deadlines, case_id, log):
        """`log` is the recorder.Recorder of the case."""
        self._log = log
        self._target = target
        self._link = link
        self._deadlines = deadlines
        self._stem = f"{PREFIX}{case_id}-{link.unique}"
        self._conn = None
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

    @property
    def root(self):
        """The export's root file handle."""
        if self._root is None:
            with self._log.paused():
                self._root = mount(self._target, self.conn, self._deadlines)
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
            with self._log.paused():
                self._directory = self._make_directory(root, self._stem)
            self._log.given("base", self._directory)
            self._log.given("base_name", self._stem)
        return self._directory

    def name(self, stem):
        """A name that is not in use in `base`."""
        self._count += 1
        return f"{stem}-{self._count}"

    def file(self, content, name=None):
        """The handle of a new file."""
        handle = self._create(name or self.name("file"))
        step = self._data_step()
        for offset in range(0, len(content), step):
            part = bytes(content[offset : offset + step])
            self._call(
                "WRITE", file=handle, offset=offset, count=len(part), stable=_FILE_SYNC, data=part
            )
        return handle

    def sparse_file(self, length, name=None):
        """The handle of a new file of `length` octets, all zero, made without sending them."""
        handle = self._create(name or self.name("file"))
        size = {"new_attributes": {"size": length}, "guard": None}
        self._call("SETATTR", object=handle, **size)
        return handle

    def _create(self, name):
        made = self._call("CREATE", where=_where(self.base, name), how=_unchecked())
        self._made.append((self.base, name, False))
        return made.ok.obj or self._look_up(self.base, name)

    def symlink(self, text, name=None):
        """The handle of a new symbolic link with this text (str, or octets)."""
        name = name or self.name("link")
        link = {"symlink_attributes": {}, "symlink_data": text}
        made = self._call("SYMLINK", where=_where(self.base, name), symlink=link)
        self._made.append((self.base, name, False))
        return made.ok.obj or self._look_up(self.base, name)

    def directory(self, name=None):
        """The handle of a new directory."""
        return self._make_directory(self.base, name or self.name("directory"))

    def descend(self):
        """From here on files are made in a new directory. No other client changes its parent."""
        self._directory = self.directory()

    def _make_directory(self, parent, name):
        made = self._call("MKDIR", where=_where(parent, name), attributes={"mode": 0o777})
        self._made.append((parent, name, True))
        return made.ok.obj or self._look_up(parent, name)

    def read(self, handle):
        """The whole content of a file."""
        content = bytearray()
        step = self._data_step()
        for _ in range(MOST_READS):
            result = self._call("READ", file=handle, offset=len(content), count=step)
            if len(result.ok.data) > step:
                raise self._garbage(f"READ of {step} octets gives {len(result.ok.data)}")
            content += result.ok.data
            if result.ok.eof:
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
                self._empty(self._try_look_up(parent, name))
            self._try("RMDIR" if is_directory else "REMOVE", object=_where(parent, name))
        self._directory = None

    def _empty(self, directory, depth=0):
        """Removes what a case, or a replay, made in a directory by itself."""
        for _ in range(MOST_LISTINGS):
            names = self._names(directory)
            removed = [name for name in names if self._remove(directory, name, depth)]
            if not removed:
                return

    def _names(self, directory):
        """The first names in a directory."""
        first = {"cookie": 0, "cookieverf": bytes(8), "count": SMALL_INLINE_DATA}
        listed = directory and self._try("READDIR", dir=directory, **first)
        entries = listed.ok.entries if listed else ()
        return [entry.name for entry in entries if entry.name not in (".", "..")]

    def _remove(self, directory, name, depth):
        """Whether the entry is gone."""
        self._removed += 1
        if self._removed > MOST_REMOVED:
            return False
        if self._try("REMOVE", object=_where(directory, name)) is not None:
            return True
        if depth < MOST_DEPTH:
            self._empty(self._try_look_up(directory, name), depth + 1)
        return self._try("RMDIR", object=_where(directory, name)) is not None

    def close(self):
        """Ends the helper connection."""
        if self._conn is not None:
            self._conn.abort()

    # -- calls ---------------------------------------------------------------------------------

    def _data_step(self):
        return INLINE_DATA if self.conn.inline_octets >= 4096 else SMALL_INLINE_DATA

    def _outcome(self, procedure, fields):
        call = self.conn.nfs_call(procedure, **fields)
        self.conn.make_fit(call)
        return self.conn.exchange(call)

    def _call(self, procedure, **fields):
        outcome = self._outcome(procedure, fields)
        if outcome.kind != kinds.REPLY:
            # Not self.conn, which is another one if this one broke.
            raise unprepared(
                self._conn.owed, procedure, outcome.kind, f"{outcome.detail}\n{outcome.trace()}"
            )
        return outcome.result

    def _try(self, procedure, **fields):
        outcome = self._outcome(procedure, fields)
        return outcome.result if outcome.kind == kinds.REPLY else None

    def _look_up(self, directory, name):
        return self._call("LOOKUP", what=_where(directory, name)).ok.object

    def _try_look_up(self, directory, name):
        found = self._try("LOOKUP", what=_where(directory, name))
        return found.ok.object if found is not None else None


def _where(directory, name):
    return {"dir": directory, "name": name}


def _unchecked():
    return {"mode": 0, "obj_attributes": {"mode": 0o666}}

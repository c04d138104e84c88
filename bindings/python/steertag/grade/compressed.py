"""Captures compressed by gzip: the engine reads the octets inside from a pipe, while a thread decompresses."""

import contextlib
import ctypes
import gzip
import os
import shutil
import stat
import tempfile
import threading
import zlib

_MAGIC = b"\x1f\x8b"  # RFC 1952 2.3.1
_CHUNK_BYTES = 1 << 18
STANDARD_INPUT = "-"


class CompressedError(Exception):
    """What is wrong with a compressed file, or with the capture inside. It has the fields of the engine's
    CaptureError."""

    def __init__(self, path, fault, detail, offset=None):
        """`offset`: in the capture inside, in octets; None if not known."""
        name = "standard input" if path == STANDARD_INPUT else os.fsdecode(path)
        super().__init__(f"{name}: {detail}")
        self.fault, self.detail, self.offset = fault, detail, offset


def is_compressed(path):
    """Whether a file, or "-", begins like gzip. Nothing is taken from a pipe. Other FIFOs are not opened: a second
    reader that goes would end their writer."""
    try:
        if path == STANDARD_INPUT:
            return _peek(0) == _MAGIC
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return file.read(2) == _MAGIC
    except OSError:  # the engine has a sentence on it
        return False


def _peek(descriptor):
    """The next two octets of a file or pipe; fewer at its end, b"" of what is neither."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.pread(descriptor, 2, os.lseek(descriptor, 0, os.SEEK_CUR))
    if not stat.S_ISFIFO(mode):
        return b""
    read, write = os.pipe()
    try:
        # Waits for the first octets. They stay in the pipe, for tee(2) copies.
        copied = ctypes.CDLL(None, use_errno=True).tee(descriptor, write, 2, 0)
        return os.read(read, 2) if copied > 0 else b""
    finally:
        os.close(read)
        os.close(write)


class Decompression:
    """`size` is that of the compressed file or None, and `offset` how much of it was read. Whoever has read to the
    end of the octets inside sees the final `error`: a CompressedError or None."""

    def __init__(self, path):
        self.error = None
        self._name = path
        self._source = open(0 if path == STANDARD_INPUT else path, "rb", closefd=path != "-")
        status = os.fstat(self._source.fileno())
        self.size = status.st_size if stat.S_ISREG(status.st_mode) else None
        self.offset = 0

    @contextlib.contextmanager
    def feeding(self):
        """Starts, and gives the path of the pipe, for a reader that opens it inside."""
        read, write = os.pipe()
        # A daemon: it may wait for octets that no reader waits for any more.
        threading.Thread(target=self._decompress, args=[write], daemon=True).start()
        try:
            yield f"/dev/fd/{read}"
        finally:
            os.close(read)

    def named(self, error):
        """The engine's CaptureError on the pipe, as one on the file; an error of gzip goes before it."""
        if self.error is not None or error is None:
            return self.error
        detail = str(error).partition(": ")[2]
        return CompressedError(self._name, error.fault, detail, error.offset)

    def _decompress(self, write):
        # The reader closes its end when it needs no more.
        with contextlib.suppress(BrokenPipeError), self._source, open(write, "wb") as target:
            try:
                self._copy(target)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                # Before the pipe's end, which tells the reader to look here.
                self.error = CompressedError(self._name, "compressed", f"gzip: {error}")

    def _copy(self, target):
        file = gzip.GzipFile(fileobj=self._source)
        while piece := file.read1(_CHUNK_BYTES):
            target.write(piece)
            target.flush()
            if self.size is not None:
                self.offset = self._source.tell()


@contextlib.contextmanager
def as_plain_file(path, beside):
    """The path itself, or that of a decompressed copy in the folder of `beside`, which is removed at the end. What is
    left out behind damage has been reported already."""
    if not is_compressed(path):
        yield path
        return
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(os.path.abspath(beside))) as plain:
        with contextlib.suppress(gzip.BadGzipFile, EOFError, zlib.error), gzip.open(path) as file:
            shutil.copyfileobj(file, plain)
        plain.flush()
        yield plain.name

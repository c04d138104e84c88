"""`steertag cp`: copies one file from a server, or to it. The final name appears only on a whole
file."""

import contextlib
import os
import secrets
import stat

from .. import progress
from ..failure import Failure
from . import optimistic_reads, place

# Time between two updates of the progress bar, and between two checks for Ctrl-C.
STEP_S = 0.1


def add_command(commands):
    parser = commands.add_parser("cp", help="Copies a file from a server, or to it")
    parser.add_argument("source", help="URL or local file")
    parser.add_argument("target", help="local file or directory, or URL")
    parser.add_argument(
        "--sparse",
        choices=("auto", "always", "never"),
        default="auto",
        help="holes in place of zeros: where the source has holes (auto), always, or never",
    )
    parser.add_argument(
        "--optimistic",
        action="store_true",
        help="as --transfer optimistic: read blocks by RDMA Reads of the client, if the server "
        "grants them; prints how many",
    )
    parser.add_argument(
        "--io-bytes",
        type=place.io_bytes,
        metavar="BYTES",
        help="octets of one READ or WRITE, at most: 32768 or 32K (what the server says)",
    )
    parser.add_argument(
        "--in-flight",
        type=place.in_flight,
        metavar="N",
        help="READs or WRITEs under way, at most (as many as fit)",
    )
    parser.add_argument(
        "--no-pnfs",
        action="store_true",
        help="use no data servers, even if the server has some",
    )
    parser.add_argument(
        "--data-server-pause",
        type=place.seconds,
        metavar="SECONDS",
        help="seconds from the failure of a data server to its next try (30)",
    )
    place.add_transfer_options(parser)
    place.add_options(parser)
    parser.set_defaults(run=run)


def run(arguments):
    """Copies a file from a server, or to it."""
    remote = place.is_url(arguments.source), place.is_url(arguments.target)
    if remote == (True, False):
        with place.sentences(arguments.source):
            fetch(arguments)
    elif remote == (False, True):
        with place.sentences(arguments.target):
            store(arguments)
    else:
        raise Failure("cp copies between a URL and a local file: one of each")


def fetch(arguments):
    """Copies from the server to a local file."""
    files = _connect(arguments.source, arguments)
    path = place.path_of(arguments.source)
    found = files.find(path)
    if found.type != "regular":
        raise Failure(f"{arguments.source}: this is no regular file but {found.type}")
    target = arguments.target
    if os.path.isdir(target):
        target = os.path.join(target, place.parent_and_name(arguments.source)[1])
    with contextlib.suppress(OSError):  # it may not exist
        if not stat.S_ISREG(os.stat(target).st_mode):
            raise Failure(f"{target}: this is no regular file")
    holes = found.used is not None and found.used < found.size
    sparse = arguments.sparse == "always" or (arguments.sparse == "auto" and holes)
    with _temporary_beside(target, found.mode) as descriptor:
        _work(files.fetch(found, descriptor, sparse), os.path.basename(target))
    place.leave(files)
    if files.optimistic is not None:
        print(optimistic_reads.sentence(files.optimistic))
    _tell_places(files.pnfs)


def _tell_places(counts):
    """Prints where the octets of a striped file were: at data servers, and at the metadata server."""
    servers = counts["data_servers"] if counts else []
    used = [each for each in servers if each["reads"] or each["writes"]]
    if not used:
        return
    octets = [each["read_bytes"] + each["written_bytes"] for each in used]
    own = counts["metadata_server"]["read_bytes"] + counts["metadata_server"]["written_bytes"]
    places = ", ".join(map(str, octets))
    print(f"octets at {len(used)} data servers: {places}; at the metadata server: {own}")


def _connect(url, arguments):
    return place.connect(
        url,
        arguments,
        io_bytes=arguments.io_bytes,
        in_flight=arguments.in_flight,
        layouts=not arguments.no_pnfs,
        data_server_pause_s=arguments.data_server_pause,
        **place.transfer_options(arguments),
    )


def _work(transfer, name):
    """Works on the transfer until it is complete."""
    progress.run(
        lambda: transfer.step(STEP_S), lambda: transfer.done_bytes, transfer.total_bytes, name
    )


@contextlib.contextmanager
def _temporary_beside(target, mode):
    """A descriptor of a new file, which becomes the target on success and is removed otherwise. The
    target of a symbolic link is replaced, not the link."""
    final = os.path.realpath(target)
    # Short: file systems limit the length of a name.
    temporary = os.path.join(os.path.dirname(final), f".{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Failure(f"{temporary}: {error.strerror}") from None
    try:
        try:
            yield descriptor
            os.fchmod(descriptor, _permissions(mode))
        finally:
            # Before the rename: some file systems report failed writes only now.
            os.close(descriptor)
        os.replace(temporary, final)
    except OSError as error:
        raise Failure(f"{target}: {error.strerror}") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _permissions(mode):
    """The permissions of the copy of a file with this mode."""
    umask = os.umask(0)
    os.umask(umask)
    return mode & 0o777 & ~umask


def store(arguments):
    """Copies a local file to the server."""
    try:
        descriptor = os.open(arguments.source, os.O_RDONLY)
    except OSError as error:
        raise Failure(f"{arguments.source}: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Failure(f"{arguments.source}: this is no regular file")
        _store(arguments, descriptor, status)
    finally:
        os.close(descriptor)


def _store(arguments, descriptor, status):
    files = _connect(arguments.target, arguments)
    directory, name = _target_of(files, arguments)
    temporary = f".{secrets.token_hex(8)}.part"
    sparse = arguments.sparse != "never"
    mode = _permissions(status.st_mode)
    try:
        # A signal can arrive after the file exists and before this call returns.
        transfer = files.store(descriptor, status.st_size, directory, temporary, mode, sparse)
        _work(transfer, name)
        files.rename(directory, temporary, name)
    except BaseException:
        # The error is raised already, and a lost connection cannot remove the file.
        with contextlib.suppress(*place.errors()):
            files.remove(directory, temporary)
        raise
    place.leave(files)
    _tell_places(files.pnfs)


def _target_of(files, arguments):
    """The remote directory and the name in it."""
    with contextlib.suppress(*place.errors()):
        found = files.find(place.path_of(arguments.target))
        if found.type == "directory":
            return found, os.path.basename(arguments.source)
    path, name = place.parent_and_name(arguments.target)
    return files.find(path), name

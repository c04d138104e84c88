"""The place of a file: on this machine, or at a URL `provider://host[:port]/path`."""

import argparse
import contextlib
import os
import re

from ..failure import Failure

# Of the engine: kLargestTransfer, kMostInFlight, kLargestInlineBytes and kTransferModes.
LARGEST_IO_BYTES = 1024**2
MOST_IN_FLIGHT = 64
LARGEST_INLINE_BYTES = 262144
TRANSFER_MODES = ("as-needed", "inline", "direct", "cached", "pre-posted", "optimistic", "batch")
_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}
_URL = re.compile(r"[a-z][a-z0-9+.-]*://")


def is_url(text):
    """Whether the argument names a server. A local path of this form is written ./a://b."""
    return _URL.match(text) is not None


def path_of(url):
    """The path of a URL as it is: URLs here have no escapes."""
    rest = url.split("://", 1)[1]
    slash = rest.find("/")
    return rest[slash:] if slash >= 0 else "/"


def parent_and_name(url):
    """The path of the directory of a file's URL, and the file's name in it."""
    directory, _, name = path_of(url).rstrip("/").rpartition("/")
    if name in ("", ".", ".."):
        raise Failure(f"{url}: this names no file")
    return directory or "/", name


def add_options(parser):
    """Adds the options of every command with a URL."""
    parser.add_argument(
        "--nfs",
        type=_version,
        choices=("3", "4.1"),
        help="version of NFS (default: 4.1, or 3 if the server does not have it)",
    )
    parser.add_argument("--uid", type=_number, default=os.geteuid(), help="AUTH_SYS user (yours)")
    parser.add_argument("--gid", type=_number, default=os.getegid(), help="AUTH_SYS group (yours)")
    parser.add_argument("--anonymous", action="store_true", help="AUTH_NONE instead of AUTH_SYS")
    parser.add_argument(
        "--mount-port",
        type=_port,
        default=0,
        help="TCP port of MOUNT version 3, if it is not on the port of NFS",
    )
    parser.add_argument(
        "--timeout", type=seconds, default=60.0, help="seconds from a call to its reply (60)"
    )


def add_transfer_options(parser):
    """Adds the options that say how octets reach a server or come from it."""
    parser.add_argument(
        "--inline-bytes",
        type=_inline_bytes,
        help="over RDMA: announced send and receive size, a multiple of 1024 (4096; 256K for the "
        "transfers inline and pre-posted)",
    )
    parser.add_argument(
        "--transfer",
        choices=TRANSFER_MODES,
        help="over RDMA: how data gets to the other end (as-needed: inline where it fits, otherwise "
        "direct)",
    )
    parser.add_argument(
        "--recoverable-faults",
        action="store_true",
        help="over iwarp, for the transfer optimistic: a refused RDMA Read leaves its connection up, "
        "if the server agrees",
    )
    parser.add_argument(
        "--chunk-from",
        type=io_bytes,
        metavar="BYTES",
        help="over RDMA: data of so many octets takes a chunk, even if it fits inline",
    )


def errors():
    """The exceptions of a failure between this machine and a server."""
    from .. import fabric, peer

    return peer.FileError, fabric.FabricError


@contextlib.contextmanager
def sentences(subject):
    """A failure of the server inside the context ends the command with one sentence."""
    try:
        yield
    except errors() as error:
        raise Failure(f"{subject}: {error}") from None


def connect(url, arguments, **transfer):
    """A client of the files at the URL. `transfer`: more arguments of peer.Files."""
    from .. import peer

    version = {None: 0, "3": 3, "4.1": 4}[arguments.nfs]
    identity = {}
    if not arguments.anonymous:
        own = (os.geteuid(), os.getegid()) == (arguments.uid, arguments.gid)
        gids = [gid for gid in os.getgroups() if gid != arguments.gid][:16] if own else []
        identity = {"uid": arguments.uid, "gid": arguments.gid, "gids": gids}
    return peer.Files(
        os.fsencode(url),
        version=version,
        mount_port=arguments.mount_port,
        timeout_s=arguments.timeout,
        optimistic=getattr(arguments, "optimistic", False),
        **identity,
        **transfer,
    )


def transfer_options(arguments):
    """The arguments of peer.Files for add_transfer_options."""
    if getattr(arguments, "optimistic", False) and arguments.transfer not in (None, "optimistic"):
        raise Failure(f"--optimistic and --transfer {arguments.transfer}: one of them")
    reads = getattr(arguments, "optimistic", False) or arguments.transfer == "optimistic"
    if arguments.recoverable_faults and not reads:
        raise Failure("--recoverable-faults needs --transfer optimistic")
    return {
        "inline_bytes": arguments.inline_bytes,
        "chunk_from": arguments.chunk_from,
        "transfer": arguments.transfer,
        "recoverable_faults": arguments.recoverable_faults,
    }


def leave(files):
    """Releases the client's state on the server. The work is done by then; the lease ends what
    remains."""
    with contextlib.suppress(*errors()):
        files.end()


def _version(text):
    """The digits of a version, which may be spelled "v3" too."""
    return text.removeprefix("v")


def _number(text):
    value = int(text)
    if not 0 <= value < 2**32:
        raise ValueError
    return value


def _port(text):
    value = int(text)
    if not 0 < value < 2**16:
        raise ValueError
    return value


def octets(text, most):
    """A number of octets: 4096, 4K, 1M or 1G."""
    unit = _UNITS.get(text[-1:].upper(), 1)
    digits = text if unit == 1 else text[:-1]
    if not digits.isascii() or not digits.isdigit() or not 1 <= int(digits) * unit <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not 1 to {most} octets, as 4096, 4K or 1M")
    return int(digits) * unit


def io_bytes(text):
    """Octets of one READ or WRITE."""
    return octets(text, LARGEST_IO_BYTES)


def in_flight(text):
    """READs or WRITEs under way."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_IN_FLIGHT:
        raise argparse.ArgumentTypeError(f"{text!r} is not 1 to {MOST_IN_FLIGHT} calls")
    return int(text)


def _inline_bytes(text):
    value = octets(text, LARGEST_INLINE_BYTES)
    if value % 1024:
        raise argparse.ArgumentTypeError(f"{text!r} is no multiple of 1024 (RFC 8797 4.2)")
    return value


def seconds(text):
    value = float(text)
    if not 0.001 <= value <= 86400:
        raise ValueError
    return value

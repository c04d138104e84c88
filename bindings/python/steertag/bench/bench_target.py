"""The file that is measured: one of the server's, or one that is made and removed again."""

import contextlib
import dataclasses
import secrets

from ..failure import Failure
from ..files import place


@dataclasses.dataclass
class Target:
    bench: object  # peer.Bench
    # Another one, for READs: only what was opened for reading has other ways to its octets.
    reader: object
    made: bool  # by us: it may be written, and its octets are known


@contextlib.contextmanager
def opened(files, arguments):
    """A Target at the URL of the command."""
    found = files.find(place.path_of(arguments.url))
    if found.type == "directory":
        with _made(files, found, arguments) as target:
            yield target
        return
    if found.type != "regular":
        raise Failure(f"{arguments.url}: this is no regular file but {found.type}")
    if not found.size:
        raise Failure(
            f"{arguments.url}: the file is empty; name a directory, and a file is made there"
        )
    bench = files.bench(found)
    yield Target(bench, bench, False)
    bench.close()


@contextlib.contextmanager
def _made(files, directory, arguments):
    name = f".steertag-bench-{secrets.token_hex(8)}"
    try:
        # A signal can arrive after the file exists and before this call returns.
        bench = files.new_bench(directory, name, arguments.file_bytes)
        bench.fill()
        reader = files.bench(files.find(f"{place.path_of(arguments.url).rstrip('/')}/{name}"))
        yield Target(bench, reader, True)
        reader.close()
        bench.close()
    except BaseException:
        # The error is raised already, and a lost connection cannot remove the file.
        with contextlib.suppress(*place.errors()):
            files.remove(directory, name)
        raise
    files.remove(directory, name)

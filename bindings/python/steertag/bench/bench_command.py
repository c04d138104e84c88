"""`steertag bench`: throughput, response times and processor time of reading and writing at a server."""

import argparse
import json
import pathlib

from .. import atomic_file, progress
from ..failure import Failure
from ..files import place
from . import bench_plot, bench_table
from .bench_cells import MOST_CELLS, MOST_ROUNDS, MOST_SECONDS, cells, measure
from .bench_document import document
from .bench_target import opened

DEFAULT_IO_BYTES = (4096, 65536, 1048576)
DEFAULT_IN_FLIGHT = (1, 4, 16)
LARGEST_FILE = 1024**4


def add_command(commands):
    parser = commands.add_parser(
        "bench",
        help="Measures how fast a server reads and writes",
        description="Measures sequential READ and WRITE at a server: throughput, response times, and the processor time "
        "of this client. A file is only read. In a directory a file is made, written, read, compared and removed.",
    )
    parser.add_argument("url", help="provider://host[:port]/path of a file or a directory")
    parser.add_argument(
        "--io-bytes",
        type=_listed(place.io_bytes),
        metavar="BYTES,...",
        help="octets of one READ or WRITE (4K,64K,1M)",
    )
    parser.add_argument(
        "--in-flight",
        type=_listed(place.in_flight),
        default=DEFAULT_IN_FLIGHT,
        metavar="N,...",
        help="calls under way (1,4,16)",
    )
    parser.add_argument(
        "--seconds",
        type=_number(float, 0.01, MOST_SECONDS),
        default=0.5,
        metavar="S",
        help="of one measurement (0.5)",
    )
    parser.add_argument(
        "--rounds",
        type=_number(int, 1, MOST_ROUNDS),
        default=3,
        metavar="N",
        help="measurements of each kind, whose median counts (3)",
    )
    parser.add_argument(
        "--file-bytes",
        type=lambda text: place.octets(text, LARGEST_FILE),
        default=64 * 1024**2,
        metavar="BYTES",
        help="size of the file that is made in a directory (64M)",
    )
    parser.add_argument("--no-write", action="store_true", help="do not measure WRITE")
    parser.add_argument("--sync", action="store_true", help="measure WRITE with FILE_SYNC too")
    parser.add_argument(
        "--copy",
        action="store_true",
        help="copy what is read to a buffer, as a read of the kernel does",
    )
    parser.add_argument(
        "--no-crc",
        dest="crc",
        action="store_false",
        help="over iwarp: do not ask for CRC32C; the server may ask all the same",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--plot",
        type=pathlib.Path,
        metavar="FILE",
        help="draw throughput and processor time (SVG; needs matplotlib)",
    )
    place.add_transfer_options(parser)
    place.add_options(parser)
    parser.set_defaults(run=run)


def run(arguments):
    """Measures, and prints what was measured."""
    if arguments.plot:
        bench_plot.check(arguments.plot)
    if not place.is_url(arguments.url):
        raise Failure(f"{arguments.url}: this is no URL, as iwarp://HOST/export")
    with place.sentences(arguments.url):
        found = _measure(arguments)
    if arguments.plot:
        try:
            atomic_file.write_atomically(arguments.plot, bench_plot.svg(found))
        except OSError as error:
            raise Failure(f"{arguments.plot}: {error.strerror}") from None
    print(json.dumps(found, indent=2) if arguments.json else bench_table.text(found))


def _measure(arguments):
    """The document of all measurements."""
    files = place.connect(
        arguments.url,
        arguments,
        crc=arguments.crc,
        in_flight=max(arguments.in_flight),
        **place.transfer_options(arguments),
    )
    sizes = arguments.io_bytes or [
        size for size in DEFAULT_IO_BYTES if size <= min(files.read_bytes, files.write_bytes)
    ]
    wanted = cells(_operations(arguments), sizes, arguments.in_flight)
    if len(wanted) > MOST_CELLS:
        raise Failure(f"{len(wanted)} kinds of measurement are too many: {MOST_CELLS} at most")
    with opened(files, arguments) as target:
        if not target.made:
            wanted = [cell for cell in wanted if cell.operation == "read"]
        results = progress.counted(
            measure(target, wanted, arguments), len(wanted) * arguments.rounds, "bench"
        )
        if target.made:
            target.bench.compare()
    found = document(arguments, files, target, results)
    place.leave(files)
    return found


def _operations(arguments):
    writes = [] if arguments.no_write else ["write", *(["write_sync"] if arguments.sync else [])]
    return [*writes, "read"]


def _listed(parse):
    """Values between commas."""
    return lambda text: [parse(each) for each in text.split(",")]


def _number(kind, least, most):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {least} to {most}")
        return value

    return parse

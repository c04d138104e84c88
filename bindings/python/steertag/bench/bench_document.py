"""The JSON document of a bench: what was measured, of what, and where."""

import os
import platform

from .. import __version__

GIB = 1024**3


def document(arguments, files, target, results):
    """A dictionary of (cell, peer.Measured) in any order."""
    of_cell = {}
    for cell, measured in results:
        of_cell.setdefault(cell, []).append(measured)
    rows = [row(cell, rounds) for cell, rounds in of_cell.items()]
    return {
        "steertag": __version__,
        "url": arguments.url,
        "nfs": "4.1" if files.version == 4 else str(files.version),
        "file_bytes": target.bench.size,
        "seconds": arguments.seconds,
        "rounds": arguments.rounds,
        "crc": arguments.crc,
        "copy": arguments.copy,
        "kernel": platform.release(),
        "processors": len(os.sched_getaffinity(0)),
        **({"optimistic": files.optimistic} if files.optimistic is not None else {}),
        "rows": sorted(rows, key=lambda each: tuple(each.values())[:3]),
    }


def row(cell, rounds):
    """The medians of the rounds of a cell. `spread` is (most - least) / median of the throughput."""
    import statistics  # slow to import, and other commands do not need it

    def median(value):
        return statistics.median(map(value, rounds))

    rates = [each.bytes / each.elapsed_s for each in rounds]
    rate = statistics.median(rates)
    return {
        "operation": cell.operation,
        "io_bytes": cell.io_bytes,
        "in_flight": cell.in_flight,
        "bytes_per_s": rate,
        "spread": (max(rates) - min(rates)) / rate,
        "calls_per_s": median(lambda each: each.calls / each.elapsed_s),
        "median_s": median(lambda each: each.response_s(0.5)),
        "p99_s": median(lambda each: each.response_s(0.99)),
        "user_s_per_gib": median(lambda each: each.user_s / each.bytes * GIB),
        "system_s_per_gib": median(lambda each: each.system_s / each.bytes * GIB),
        "cpu_s_per_gib": median(lambda each: (each.user_s + each.system_s) / each.bytes * GIB),
        "cpu_share": median(lambda each: (each.user_s + each.system_s) / each.elapsed_s),
    }

"""What the report says of files with layouts, as text."""

import textwrap

from ..traces.field_words import handle_words
from .grade_text import ascii_of, WIDTH

MOST_FILES_LISTED = 200
_LABEL = 14  # columns of a label
_ALL = (1 << 64) - 1
_SHORT = 4  # octets at each end of a device ID


def files(graded):
    """A paragraph for each file."""
    for one in graded.files[:MOST_FILES_LISTED]:
        yield f"file {handle_words(one.handle)}  of client {one.client}"
        for label, text in summary_of(one):
            start = f"  {label:<{_LABEL}}"
            yield from textwrap.wrap(
                ascii_of(text), WIDTH, initial_indent=start, subsequent_indent=" " * len(start)
            )
    hidden = len(graded.files) - MOST_FILES_LISTED
    if hidden > 0:
        yield f"... and {hidden} more files, which --json lists"


def device_words(octets):
    """A device ID in hex, without its middle."""
    return f"{octets[:_SHORT].hex()}..{octets[-_SHORT:].hex()}"


def summary_of(one):
    """(label, text) of each line."""
    packing = "dense" if one.dense else "sparse"
    place = "metadata server" if one.commits_through_server else "data servers"
    yield "layout", (
        f"{packing} packing, stripe unit {one.stripe_unit_bytes}, COMMIT at the {place}, "
        f"device {device_words(one.device)}"
    )
    servers = ", ".join(" or ".join(each) for each in one.data_servers)
    yield "data servers", servers or "unknown: no reply to GETDEVICEINFO was seen"
    for each in one.ranges:
        yield "range", _range(each)
    yield "octets", (
        f"{_octets(one.at_data_servers)} at data servers; "
        f"{_octets(one.at_metadata_server)} at the metadata server"
    )


def _range(one):
    end = one["offset"] + one["length"]
    to = "the end" if end >= _ALL else end
    returned = f", returned in {_place(one['returned'])}" if one["returned"] else ""
    return (
        f"{one['offset']} to {to}, {one['iomode']}, granted in {_place(one['granted'])}{returned}"
    )


def _place(place):
    return f"frame {place['frame']} of connection {place['connection']}"


def _octets(octets):
    return f"{octets['read']} read, {octets['written']} written"

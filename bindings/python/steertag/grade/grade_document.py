"""The report as JSON. Version 1:

    {"format": "steertag-grade", "version": 1, "steertag": VERSION, "exit_status": 0..3,
     "files": [FILE, ...]}

FILE:

- `file`: the name.
- `status`: the first that applies of "unreadable", "damaged", "violations", "warnings", "nothing", "clean".
- `error`: null or {"fault", "offset" in octets or null, "detail", "message"}.
- `packets`: all of them; `other_packets`: not recognized as RDMA; `cut_packets`: not captured whole.
- `connections_in_all`: all of them. Among them are the next three.
- `connections_refused`: not judged, because too many were open.
- `connections_forgotten`: evicted before their end, because too many were open.
- `connections_unjudged`: with losses, and without a whole message.
- `messages_judged`: a number; `unjudged`: sentences on all that was not judged.
- `findings_in_all`, `violations`, `warnings`: numbers.
- `unclassified`: findings of packets with more than the judge keeps. They count as violations.
- `connections`, `findings`: lists, up to the most that are kept.
- `layouts`: a list of files with layouts of pNFS, see LAYOUT.

CONNECTION:

- `number` from 1, `fabric`, and the ends `client` and `server`.
- `first_frame`, `last_frame`, `first_time_ns`, `last_time_ns`, `rejected`, `ended`, `ended_clean`.
- `thresholds`: `source`, and unless it is "unknown", `to_server_bytes`, `to_client_bytes`, `remote_invalidation`.
- `source`: "negotiated", "default" (not both sides announced) or "unknown" (the beginning is not in the capture).
- `sides`: by "client" and "server", see SIDE; `directions`: by "forward" and "reverse", see DIRECTION.
- `messages`: numbers by kind.
- `losses`: by kind, `count`, `first_frame`, `last_frame` and `sentence`.
- `optimistic`: null, or of an optimistic connection of direct access `hello_frame` and `reads`.
- `hello_frame`: of the reply with its ticket, 0 if it was not seen.
- `reads`: numbers by "valid", "revoked", "torn", "unknown", "part", "outside", "faulted".
- `references`: of direct access, in replies; `fallbacks`: reads by RPC after an optimistic one that failed.
- `findings_in_all`: a number; `findings_dropped`: those that are counted only, and not among `findings`.
- `findings_undecided`: not listed, because missing or misplaced packets may explain them.

SIDE:

- `opening_seen`, `announced`: null or `send_bytes`, `receive_bytes`, `remote_invalidation`.
- `sends`, `send_bytes`, `invalidating_sends`, `terminates`.
- `placed_bytes`: by RDMA Write; `reads` and `read_bytes`: by RDMA Read.
- `wrong_crcs`: null or `count`, `first_frame`, `last_frame` of packets of RoCEv2 with a wrong invariant CRC.

DIRECTION:

- `calls`, `replies`, `errors`, `unanswered`, `most_in_flight`.
- `largest_requested`, `largest_granted`, `last_granted`: credits.
- `read_segments`, `position_zero_chunks`, `write_chunks`, `reply_chunks`.

FINDING:

- `connection`, `frame`, `time_ns`.
- `known_frame`: the packet that completed the evidence, or 0 for the capture's end.
- `culprit`: "client" or "server"; `verdict`: "fail", "warn" or "latitude", as in the suite's report.
- `level`, `id`, `document`, `section`, `rule`, `sentence`, `expected`, `observed`.
- `event`: the `number`th event of this `kind` by the `actor` on the connection, from 1, as in the suite's report.

LAYOUT, a file as one client uses it:

- `client`: a number for each client owner.
- `handle`: the filehandle at the metadata server, and `device`: the device ID of the latest layout, in hex.
- `data_servers`: a list of addresses for each, empty if GETDEVICEINFO was not seen.
- `stripe_unit_bytes`, `packing`: "dense" or "sparse"; `commit`: "data-servers" or "metadata-server".
- `ranges`: `offset`, `length`, `iomode` ("read" or "rw"), `granted` and `returned`: null or `connection` and `frame`.
- `at_data_servers`, `at_metadata_server`: octets `read` and `written` since its first layout.

Frames count from 1; times are since 1970-01-01 UTC. Version 1 may gain fields. None is removed or changes its
meaning."""

import json

from .. import __version__
from .shortfalls import shortfalls

FORMAT, VERSION = "steertag-grade", 1
_SIDE = (
    "opening_seen",
    "announced",
    "sends",
    "send_bytes",
    "invalidating_sends",
    "placed_bytes",
    "reads",
    "read_bytes",
    "terminates",
    "wrong_crcs",
)
_DIRECTION = (
    "calls",
    "replies",
    "errors",
    "unanswered",
    "most_in_flight",
    "largest_requested",
    "largest_granted",
    "last_granted",
    "read_segments",
    "position_zero_chunks",
    "write_chunks",
    "reply_chunks",
)
_CONNECTION = (
    "number",
    "fabric",
    "first_frame",
    "last_frame",
    "first_time_ns",
    "last_time_ns",
    "rejected",
    "ended",
    "ended_clean",
    "messages",
    "losses",
    "optimistic",
    "references",
    "fallbacks",
    "findings_in_all",
    "findings_dropped",
    "findings_undecided",
)
_LAYOUT = (
    "client",
    "data_servers",
    "stripe_unit_bytes",
    "ranges",
    "at_data_servers",
    "at_metadata_server",
)
_ROW = ("connection", "frame", "known_frame", "time_ns", "culprit", "level", "rule", "sentence")


def document(files, exit_status):
    return {
        "format": FORMAT,
        "version": VERSION,
        "steertag": __version__,
        "exit_status": exit_status,
        "files": [_file(each) for each in files],
    }


def text(files, exit_status):
    """The document in ASCII, with escapes: names of files need not be UTF-8."""
    return json.dumps(document(files, exit_status), indent=1) + "\n"


def _fields(value, names):
    return {name: getattr(value, name) for name in names}


def _file(graded):
    return {
        "file": graded.path,
        "status": graded.status.value,
        "error": _error(graded.error),
        "packets": graded.packets,
        "other_packets": graded.other_packets,
        "cut_packets": graded.cut_packets,
        "connections_in_all": graded.connections_in_all,
        "connections_refused": graded.report.connections_refused if graded.report else 0,
        "connections_forgotten": graded.forgotten,
        "connections_unjudged": graded.report.connections_unjudged if graded.report else 0,
        "messages_judged": graded.messages_judged,
        "unjudged": list(shortfalls(graded)),
        "findings_in_all": graded.findings_in_all,
        "violations": graded.violations,
        "warnings": graded.warnings,
        "unclassified": graded.unclassified,
        "connections": [_connection(each) for each in graded.connections],
        "findings": [_finding(each) for each in graded.rows],
        "layouts": [layout(each) for each in graded.files],
    }


def _error(error):
    if error is None:
        return None
    return {**_fields(error, ("fault", "offset", "detail")), "message": str(error)}


def _connection(one):
    return {
        **_fields(one, _CONNECTION),
        "client": one.client_end,
        "server": one.server_end,
        "thresholds": thresholds(one),
        "sides": {side: _fields(getattr(one, side), _SIDE) for side in ("client", "server")},
        "directions": {
            way: _fields(getattr(one, way), _DIRECTION) for way in ("forward", "reverse")
        },
    }


def layout(one):
    """A file with layouts (see LAYOUT)."""
    return {
        **_fields(one, _LAYOUT),
        "handle": one.handle.hex(),
        "device": one.device.hex(),
        "packing": "dense" if one.dense else "sparse",
        "commit": "metadata-server" if one.commits_through_server else "data-servers",
    }


def thresholds(connection):
    if connection.negotiated is None:
        return {"source": "unknown"}
    both = connection.client.announced is not None and connection.server.announced is not None
    return {"source": "negotiated" if both else "default", **connection.negotiated}


def _finding(row):
    return {
        **_fields(row, _ROW),
        "verdict": row.verdict.value,
        "id": row.requirement.id,
        "document": row.requirement.document,
        "section": row.requirement.section,
        "expected": row.expected,
        "observed": row.observed,
        "event": {"actor": row.event[0].name, "kind": row.event[1], "number": row.event[2]},
    }

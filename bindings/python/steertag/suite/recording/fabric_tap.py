"""A tap on a fabric connection: it passes every operation on, and logs what is posted and what comes."""

from ... import fabric
from ...trace import Role
from .plain import as_plain, CannotKeep

_FAULT_FIELDS = ("bad_crc", "msn", "mo", "qn", "opcode", "ddp_version", "rdmap_version")
FAULT_FIELDS = (*_FAULT_FIELDS, "ulpdu_length", "cut_after")
PACKET_FIELDS = (
    "index",
    "psn_offset",
    "cut",
    "bad_crc",
    "copies",
    "every_time",
    "beyond_depth",
    "extended_headers",
)
# Options of a connection that are packets.
BENT = {"bent_startup", "bent_response"}
# Operations of a connection that are posted as they are.
RAW = ("send_raw", "terminate", "rdma_write", "rdma_read")


class FabricTap:
    """Stands in place of `raw`, a fabric.Connection; `conn` is the connection.Connection that uses it."""

    def __init__(self, raw, conn, name, log):
        self._raw = raw
        self.conn = conn
        self.name = name
        self._log = log
        self._events = conn.recorder
        self._regions = []
        self._is_judged = True

    def __getattr__(self, name):
        found = getattr(self._raw, name)
        return self._operation(name, found) if name in RAW else found

    @property
    def open(self):
        return self._raw.open

    # -- what is posted ------------------------------------------------------------------------

    def send(self, octets, invalidate=None, fault=None):
        fields = {"octets": bytes(octets)}
        if invalidate is not None:
            fields["invalidate"] = invalidate
        if fault is not None:
            fields["fault"] = kept_fault(fault)
        self._post("send", **fields)
        self._raw.send(octets, invalidate=invalidate, fault=fault)

    def wait(self, timeout_ms):
        notice = self._raw.wait(timeout_ms)
        if notice is None:
            self._log.quiet(self.name, timeout_ms)
        else:
            self._log.came()
        return notice

    def disconnect(self):
        self._post("close")
        self._raw.disconnect()

    def abort(self):
        self._post("reset")
        self._raw.abort()

    def _post(self, kind, **fields):
        if self._is_judged and self.conn.watch.sight_lost:
            self._is_judged = False
            self._log.posted("unjudged", self.name)
        self._log.posted(kind, self.name, **fields)

    def _operation(self, name, operation):
        def post(*arguments, fault=None):
            kept = [_kept(each) for each in arguments]
            bent = {} if fault is None else {"fault": fault}
            told = {name: kept_fault(each) for name, each in bent.items()}
            self._post("raw", method=name, arguments=kept, **told)
            try:
                return operation(*(_region_of(each) for each in arguments), **bent)
            except fabric.FabricError as error:
                # As Connection.send does: whoever waits for the outcome sees the end.
                if error.code != fabric.ErrorCode.not_connected:
                    raise
                return None

        return post

    # -- memory --------------------------------------------------------------------------------

    @property
    def domain(self):
        """Where regions are allocated."""
        return self

    def allocate(self, length, rights, base=None):
        """A registered region; see fabric.Domain."""
        made = RegionTap(self._raw.domain.allocate(length, rights, base), length, self._log)
        made.begin(self.name, rights)
        self._regions.append(made)
        return made

    def open_window(self, region, rights):
        """A window over the region; see fabric.Connection."""
        self._raw.open_window(_region_of(region), rights)
        region.begin(self.name, rights)

    # -- what came -----------------------------------------------------------------------------

    @property
    def position(self):
        """How many events there are so far."""
        return len(self._events)

    def came(self, start, end):
        """(kind, fields) of what the target did in this range of events."""
        return events_of_target(self._events.events(start)[: end - start], self.memory_of)

    def memory_of(self, stag):
        """(name, base) of the memory with this steering tag; ("", None) if it is none of the case's."""
        owner = next((each for each in reversed(self._regions) if each.has_been(stag)), None)
        return ("", None) if owner is None else (owner.name, owner.base)


class RegionTap:
    """Stands in place of a fabric.MemoryRegion."""

    def __init__(self, region, length, log):
        self._region = region
        self._length = length
        self._log = log
        self._fields = None
        self.name = log.name("m") if log.listening else ""
        self._stags = set()

    def __getattr__(self, name):
        return getattr(self._region, name)

    def begin(self, conn, rights):
        """The target may use it from here on."""
        given = {"read": rights.remote_read, "write": rights.remote_write}
        known = {"stag": self._region.stag, "base": self._region.base}
        self._stags.add(self._region.stag)
        if self._fields is not None:
            self._fields |= {**given, **known}
            return
        self._fields = self._log.posted(
            "memory", self.name, conn=conn, length=self._length, **given, **known, content=b""
        )

    def has_been(self, stag):
        return stag in self._stags

    def write(self, offset, octets):
        if self._fields is not None:
            before = self._fields["content"].ljust(offset, b"\0")
            octets = bytes(octets)
            self._fields["content"] = before[:offset] + octets + before[offset + len(octets) :]
        self._region.write(offset, octets)

    def invalidate(self):
        if self._fields is not None:
            self._log.posted("invalidate", self.name)
        self._region.invalidate()


def _region_of(value):
    return value._region if isinstance(value, RegionTap) else value


def _kept(value):
    """An argument as a recording has it: memory by its name."""
    if isinstance(value, RegionTap):
        return value.name
    try:
        return as_plain(value)
    except CannotKeep:
        return None


def events_of_target(events, memory_of):
    """(kind, fields) of each event that the target caused, also the Terminate of our provider; consecutive RDMA Writes and Reads of touching
    ranges are one. `memory_of(stag)` gives name and base of memory."""
    pending, octets = None, []
    for event in events:
        if event.actor == Role.server:
            made = _event_of_target(event, memory_of)
        else:
            made = ("terminated", {}) if event.kind == "terminate" else None
        if made is None:
            continue
        if pending is not None and _continues(pending, made):
            pending[1]["length"] += made[1]["length"]
            octets.append(made[1].get("octets", b""))
            pending[1]["events"] += 1
            continue
        if pending is not None:
            yield _joined(pending, octets)
        pending, octets = made, [made[1].get("octets", b"")]
    if pending is not None:
        yield _joined(pending, octets)


def _joined(made, octets):
    """The first of some touching ranges, with the octets of all."""
    if len(octets) > 1:
        made[1]["octets"] = b"".join(octets)
    return made


def _event_of_target(event, memory_of):
    if event.kind == "send":
        fields = {"octets": bytes(event.bytes)}
        if event.invalidated is not None:
            fields["invalidated"] = memory_of(event.invalidated)[0]
        return "received", fields
    if event.kind == "rdma_write":
        return _range("rdma_write", event.stag, event.offset, event, memory_of)
    if event.kind == "rdma_read":
        return _range("rdma_read", event.source_stag, event.source_offset, event, memory_of)
    if event.kind in ("accept", "reject"):
        return f"{event.kind}ed", {"private_data": bytes(event.private_data)}
    if event.kind in ("terminate", "disconnect"):
        return "ended", {"how": event.kind}
    return None


def _range(kind, stag, offset, event, memory_of):
    """`offset` counts from the start of the case's memory; in memory of others it is what it was. `events`: how many
    RDMA operations it was."""
    name, base = memory_of(stag)
    start = offset if base is None else offset - base
    octets = bytes(event.payload) if kind == "rdma_write" else b""
    return kind, {
        "memory": name,
        "offset": start,
        "length": event.length,
        "octets": octets,
        "events": 1,
    }


def _continues(before, made):
    if made[0] != before[0] or made[0] not in ("rdma_write", "rdma_read"):
        return False
    first, then = before[1], made[1]
    return first["memory"] == then["memory"] and first["offset"] + first["length"] == then["offset"]


def fault_of(kept):
    """The fabric.Fault that a step keeps; None if it keeps none."""
    if kept is None:
        return None
    fields = {name: kept[name] for name in FAULT_FIELDS if name in kept}
    if "packet" in kept:
        fields["packet"] = packet_of(kept["packet"])
    return fabric.Fault(**fields)


def kept_fault(fault):
    """A fabric.Fault in plain values."""
    given = {name: getattr(fault, name) for name in FAULT_FIELDS}
    fields = {name: each for name, each in given.items() if each is not None}
    if fault.packet is not None:
        fields["packet"] = kept_packet(fault.packet)
    return fields


def kept_packet(packet):
    """A fabric.BentPacket in plain values."""
    return {name: getattr(packet, name) for name in (*PACKET_FIELDS, "patches")}


def packet_of(kept):
    """The fabric.BentPacket of these values."""
    patches = [tuple(each) for each in kept["patches"]]
    fields = {name: kept[name] for name in PACKET_FIELDS if name in kept}
    return fabric.BentPacket(patches=patches, **fields)

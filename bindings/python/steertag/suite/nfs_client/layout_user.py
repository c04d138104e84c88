"""A client of file layouts for cases: a session, an open file, its layout, and sessions at the data servers."""

from ... import nfs, wire
from ..cases import kinds
from ..cases.case_end import NotTestable, unprepared
from .compound import operation
from .file_layout import parts, read_device, read_layout
from .layout_io import LayoutIo
from .nfs4_client import putfh

NFS4 = nfs.nfs4
MDS, DS, NON_PNFS = 0x20000, 0x40000, 0x10000  # EXCHGID4_FLAG_USE_PNFS_MDS, _DS, USE_NON_PNFS
ROLES = MDS | DS | NON_PNFS
READ_LAYOUT = NFS4.LayoutIomode.LAYOUTIOMODE4_READ
RW_LAYOUT = NFS4.LayoutIomode.LAYOUTIOMODE4_RW
ANY_LAYOUT = NFS4.LayoutIomode.LAYOUTIOMODE4_ANY
FILES = NFS4.LayoutType.LAYOUT4_NFSV4_1_FILES
ALL = (1 << 64) - 1
# Of a device, and of a layout as Linux asks for it. Octets.
MOST_DEVICE_OCTETS, MOST_LAYOUT_OCTETS = 4096, 4096
BOTH = NFS4.OPEN4_SHARE_ACCESS_BOTH
RESTARTED = b"restarts"  # the verifier of a client that comes back
UNITS = 3  # of the usual file, the last one not whole
MOST_UNITS = 33  # of the usual file with dense packing


class LayoutUser(LayoutIo):
    """A client of its own with a backchannel at the metadata server, and a file that it has open."""

    def __init__(self, bench, access=BOTH, name=None, former=None, back=True):
        """A new file without octets, or the case's file of this name. With `former` the client is that of this user,
        after a restart. Without `back` the session has no backchannel."""
        self.bench = bench
        bench.need("pnfs-files")
        instance = (former.client.owner, RESTARTED) if former is not None else None
        self.client = self.session = None
        self._meet_server(instance, back)
        self.session.reclaim_complete()
        self.name = name or bench.name("striped")
        if name is None:
            bench.file(b"", self.name)
        directory = bench.nfs4_files(self.session).directory
        opened, self.handle = self.session.open(directory, self.name, access)
        self.stateid, self.delegation = opened.stateid, opened.delegation
        self.layout = self.layout_stateid = self.device = None

    def _meet_server(self, instance, back=True):
        """A session of a new client, or of this (owner, verifier)."""
        client = self.bench.nfs4_client(callbacks=True)
        if instance is not None:
            client.owner, client.verifier = instance
        flags = NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN if back else 0
        for made in (client.exchange_id(eia_flags=MDS), client.create_session(csa_flags=flags)):
            if made.kind != kinds.REPLY:
                raise unprepared(client.conn.owed, "making a session", made.kind, made.trace())
        self.client, self.session = client, client.sessions[0]
        self.at = {}  # multipath list: session at its data server

    # -- a restart of the target ---------------------------------------------------------------

    def meet_again(self):
        """The same client in a new session. Its layout is that of before."""
        self._meet_server((self.client.owner, self.client.verifier))

    def reclaim_open(self):
        """The Outcome of OPEN of the file with CLAIM_PREVIOUS (RFC 8881 8.4.2)."""
        again = operation(
            "OPEN",
            share_access=BOTH,
            share_deny=NFS4.OPEN4_SHARE_DENY_NONE,
            owner={"clientid": self.client.id, "owner": b"process"},
            claim={"claim": NFS4.ClaimType.CLAIM_PREVIOUS},
        )
        self.client.opens = True
        outcome = self.session.exchange(putfh(self.handle), again)
        if outcome.kind == kinds.REPLY:
            self.stateid = outcome.result["OPEN"].resok4.stateid
        return outcome

    def end_grace(self):
        """The client has reclaimed all. Waits for the end of the grace period."""
        self.session.reclaim_complete()
        self.session.outlast_grace()

    # -- layouts -------------------------------------------------------------------------------

    def layout_get(self, handle=None, **fields):
        """The Outcome of LAYOUTGET of the whole file for reading and writing, unless `fields` differ."""
        return self.session.exchange_in_time(*self.layout_getting(handle, **fields))

    def layout_getting(self, handle=None, **fields):
        """The operations of such a LAYOUTGET."""
        asked = {
            "loga_iomode": RW_LAYOUT,
            "loga_length": ALL,
            "loga_stateid": self.layout_stateid or self.stateid,
            "loga_maxcount": MOST_LAYOUT_OCTETS,
        }
        got = operation("LAYOUTGET", **{**asked, **fields})
        return putfh(handle or self.handle), got

    def device_info(self, **fields):
        """The Outcome of GETDEVICEINFO of the layout's device."""
        asked = {"gdia_device_id": self.layout.device, "gdia_maxcount": MOST_DEVICE_OCTETS}
        return self.session.exchange_in_time(operation("GETDEVICEINFO", **{**asked, **fields}))

    def take(self, outcome):
        """Keeps the layout of a LAYOUTGET that succeeded. Returns nfs4.LayoutgetOk. A body that cannot be read ends
        the case."""
        if outcome.kind != kinds.REPLY:
            raise unprepared(self.session.conn.owed, "LAYOUTGET", outcome.kind, outcome.trace())
        got = outcome.result["LAYOUTGET"].resok4
        self.layout_stateid = got.logr_stateid
        try:
            self.layout = read_layout(got.logr_layout[0].lo_content.loc_body)
        except (IndexError, wire.DecodeError) as fault:
            raise NotTestable(f"LAYOUTGET gives no file layout: {fault}") from None
        return got

    def use_layout(self, **fields):
        """Gets a layout and its device. Sets `layout`, `layout_stateid` and `device`."""
        got = self.take(self.layout_get(**fields))
        self.use_device()
        return got

    def use_device(self):
        """Gets the device of the layout. Sets `device`."""
        outcome = self.device_info()
        if outcome.kind != kinds.REPLY:
            raise unprepared(self.session.conn.owed, "GETDEVICEINFO", outcome.kind, outcome.trace())
        body = outcome.result["GETDEVICEINFO"].resok4.gdir_device_addr.da_addr_body
        try:
            self.device = read_device(body)
        except (UnicodeDecodeError, wire.DecodeError) as fault:
            raise NotTestable(f"GETDEVICEINFO gives no device of files: {fault}") from None

    def layout_return(self, stateid=None, **fields):
        """The Outcome of LAYOUTRETURN of the whole file. `fields` are of LAYOUTRETURN."""
        scope = {"lrf_length": ALL, "lrf_stateid": stateid or self.layout_stateid}
        asked = {"lora_iomode": ANY_LAYOUT, "lora_layoutreturn": {"lr_layout": scope}}
        back = operation("LAYOUTRETURN", **{**asked, **fields})
        return self.session.exchange_in_time(putfh(self.handle), back)

    def layout_commit(self, last=None, time=None, **fields):
        """The Outcome of LAYOUTCOMMIT. `last`: the offset of the last octet that was written; `time`: nfs4.Time."""
        return self.session.exchange_in_time(*self.layout_committing(last, time, **fields))

    def layout_committing(self, last=None, time=None, **fields):
        """The operations of such a LAYOUTCOMMIT."""
        asked = {"loca_length": ALL, "loca_stateid": self.layout_stateid}
        if last is not None:
            asked["loca_last_write_offset"] = {"no_newoffset": True, "no_offset": last}
        if time is not None:
            asked["loca_time_modify"] = {"nt_timechanged": True, "nt_time": time}
        done = operation("LAYOUTCOMMIT", **{**asked, **fields})
        return putfh(self.handle), done

    # -- data servers --------------------------------------------------------------------------

    @property
    def units(self):
        """Stripe units of the usual file. With dense packing these are two stripes and a unit, if that is not too much.
        Only then an offset at a data server tells one stripe from another."""
        of_stripes = 2 * len(self.device.indices) + 1 if self.layout.dense else UNITS
        return of_stripes if of_stripes <= MOST_UNITS else UNITS

    @property
    def size(self):
        """Octets of the usual file, whose last stripe unit is not whole."""
        return self.units * self.layout.unit - 100

    def parts(self, size=None):
        return parts(self.layout, self.device, size or self.size)

    def data_server(self, number):
        """The session at the data server of this multipath list."""
        if number not in self.at:
            client = self.bench.data_server_client(self.client, self.device.servers[number])
            for made in (client.exchange_id(eia_flags=DS), client.create_session()):
                if made.kind != kinds.REPLY:
                    raise unprepared(client.conn.owed, "making a session", made.kind, made.trace())
            self.at[number] = client.sessions[0]
        return self.at[number]

    def a_part_of_each(self, size=None):
        """The first part at each data server that has one."""
        return list({part.server: part for part in reversed(self.parts(size))}.values())

    def read_part(self, part, stateid=None):
        session = self.data_server(part.server)
        return self.read_at(session, part.handle, part.offset, part.length, stateid)

    def write_part(self, part, content, stateid=None):
        data = content[part.start : part.start + part.length]
        session = self.data_server(part.server)
        return self.write_at(session, part.handle, part.offset, data, stateid)

    def commit_part(self, part):
        return self.data_server(part.server).exchange(putfh(part.handle), operation("COMMIT"))

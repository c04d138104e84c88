"""A client of file layouts on the wire: sessions at a metadata server and its data servers, and what it does there."""

import random

from steertag import fabric, nfs
from steertag.suite.cases import kinds
from steertag.suite.exchange.callbacks import Callbacks
from steertag.suite.exchange.deadline import Deadlines
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.file_layout import parts, read_device, read_layout
from steertag.suite.nfs_client.layout_io import LayoutIo
from steertag.suite.nfs_client.layout_user import (
    ALL,
    DS,
    MDS,
    MOST_DEVICE_OCTETS,
    MOST_LAYOUT_OCTETS,
    ROLES,
)
from steertag.suite.nfs_client.nfs4_client import Nfs4Client, lookup, putfh
from steertag.suite.rdma.rdma_link import RdmaLink
from steertag.suite.run.profile import Profile
from steertag.suite.tcp.record_link import RecordLink

NFS4 = nfs.nfs4
UNIT = 8192
SIZE = 5 * UNIT + 100


class Connections:
    """Connections over one transport to servers."""

    def __init__(self, provider):
        self._fabric = None if provider == "tcp" else fabric.Provider(provider)
        self._opened = []

    def to(self, url):
        if self._fabric is None:
            conn = RecordLink(url, Profile()).helper(Deadlines())
        else:
            conn = RdmaLink(url, Profile(), self._fabric).helper(Deadlines())
        self._opened.append(conn)
        conn.callbacks or Callbacks(conn)
        return conn

    def end(self):
        for conn in self._opened:
            conn.abort()


class Mounted(LayoutIo):
    """A client with a session at the metadata server, and one at each data server."""

    def __init__(self, servers, owner):
        self.servers, self.owner, self.verifier = servers, owner, b"verifier"
        self.session, flags = self._session(0, MDS, back=True)
        assert flags & ROLES == MDS
        self.session.reclaim_complete()
        self.at = []

    def _session(self, number, role, back=False):
        client = Nfs4Client(self.servers.connect(number), self.owner, self.verifier)
        known = client.exchange_id(eia_flags=role)
        assert known.kind == kinds.REPLY, known.detail
        flags = known.result["EXCHANGE_ID"].resok4.eir_flags
        asked = NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN if back else 0
        made = client.create_session(csa_flags=asked)
        assert made.kind == kinds.REPLY, made.detail
        assert made.result["CREATE_SESSION"].resok4.csr_flags & asked == asked
        return client.sessions[0], flags

    def mount_data_servers(self):
        for number in range(1, len(self.servers.urls)):
            session, flags = self._session(number, DS)
            assert flags & ROLES == DS
            self.at.append(session)

    # -- files ---------------------------------------------------------------------------------

    def create(self, name):
        """Sets `handle` and `stateid` to those of a new file that is open for reading and writing."""
        how = {"mode": NFS4.CreateMode.UNCHECKED4, "createattrs": NFS4.fattr(mode=0o600)}
        opened = operation(
            "OPEN",
            share_access=NFS4.OPEN4_SHARE_ACCESS_BOTH,
            owner={"clientid": self.session.client.id, "owner": b"process"},
            openhow={"opentype": NFS4.OpenType.OPEN4_CREATE, "how": how},
            claim={"claim": NFS4.ClaimType.CLAIM_NULL, "file": name},
        )
        made = self.session.run("PUTROOTFH", lookup("export"), opened, "GETFH")
        self.handle, self.stateid = made["GETFH"].resok4.object, made["OPEN"].resok4.stateid

    def layout_get(self, iomode=NFS4.LayoutIomode.LAYOUTIOMODE4_RW, stateid=None):
        """The Outcome of LAYOUTGET of the whole file."""
        asked = operation(
            "LAYOUTGET",
            loga_iomode=iomode,
            loga_length=ALL,
            loga_stateid=stateid or self.stateid,
            loga_maxcount=MOST_LAYOUT_OCTETS,
        )
        return self.session.exchange(putfh(self.handle), asked)

    def use_layout(self):
        """Sets `layout`, its stateid `layout_stateid`, and `device`."""
        got = self.layout_get().result["LAYOUTGET"].resok4
        (one,) = got.logr_layout
        assert (one.lo_offset, one.lo_length) == (0, ALL)
        assert one.lo_iomode == NFS4.LayoutIomode.LAYOUTIOMODE4_RW
        assert got.logr_stateid.seqid == 1
        self.layout_stateid, self.layout = got.logr_stateid, read_layout(one.lo_content.loc_body)
        info = operation(
            "GETDEVICEINFO", gdia_device_id=self.layout.device, gdia_maxcount=MOST_DEVICE_OCTETS
        )
        told = self.session.run(info)["GETDEVICEINFO"].resok4.gdir_device_addr
        self.device = read_device(told.da_addr_body)

    def parts(self):
        return parts(self.layout, self.device, SIZE)

    def layout_return(self):
        given = {"lrf_length": ALL, "lrf_stateid": self.layout_stateid}
        back = operation(
            "LAYOUTRETURN",
            lora_iomode=NFS4.LayoutIomode.LAYOUTIOMODE4_ANY,
            lora_layoutreturn={"lr_layout": given},
        )
        return self.session.run(putfh(self.handle), back)["LAYOUTRETURN"].resok4

    # -- input and output ----------------------------------------------------------------------

    def read_part(self, part):
        return self.read_at(self.at[part.server], part.handle, part.offset, part.length)

    def write_part(self, part, content):
        data = content[part.start : part.start + part.length]
        return self.write_at(self.at[part.server], part.handle, part.offset, data)


def mounted_with_layout(servers):
    client = Mounted(servers, "first")
    client.mount_data_servers()
    client.create("file")
    client.use_layout()
    return client


def octets(seed):
    return random.Random(seed).randbytes(SIZE)


def done(outcome, name):
    """The result of the operation of this name, which succeeded."""
    assert outcome.kind == kinds.REPLY, f"{outcome.kind} {outcome.detail}"
    return outcome.result[name].resok4


def status(outcome, name):
    """The status of the operation of this name."""
    return outcome.result[name].status.name


def remove(client):
    gone = operation("REMOVE", target="file")
    outcome = client.session.exchange("PUTROOTFH", lookup("export"), gone)
    return status(outcome, "REMOVE")

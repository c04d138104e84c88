"""Uses of the fuzzed server that hold state: opens and locks of NFS version 4.0, and delegations of version 4.1, which
the server recalls."""

import functools
import random
import types

from fuzz_talk import Ended, EXPORT

from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import (
    CALLBACK_PROGRAM,
    getattr_of,
    lookup,
    NO_CREDENTIAL,
    putfh,
    read,
    write,
)
from suites.server.nfs.nfs40_client import Nfs40Client, RESULT_CONFIRM
from suites.server.nfs4_checks import BACK, NFS4, READ, WANT_READ, WRITE

TOP = ("PUTROOTFH", lookup(EXPORT))
# Octets that are read by the stateid of a delegation.
FEW_OCTETS = 100


class Directory:
    """A new directory in the export, in the place of a bench and of its directory for Nfs40Client."""

    def __init__(self, name):
        self.random = random.Random(name)
        self.place = types.SimpleNamespace(name=name)
        self._name = name

    def name(self, stem):
        return f"{stem}-{self._name}"

    def nfs4_files(self, _session):
        return self

    def path(self):
        return list(TOP)

    def unsupported(self, proof):
        raise Ended(proof)


# -- version 4.0 -----------------------------------------------------------------------------------


def opens(talk, size, name):
    """Opens, locks and names of minor version 0, with each operation of a client that has no session."""
    conn = talk.conn
    directory = Directory(name)
    client = Nfs40Client(directory, directory.place)
    run = functools.partial(client.run, conn)
    attributes = {"createattrs": NFS4.fattr(mode=0o755)}
    run(
        *TOP,
        operation("CREATE", objtype={"type": NFS4.FileType.NF4DIR}, objname=name, **attributes),
    )
    client.register(conn)
    made = run(*client.open())
    client.note(made)
    if made["OPEN"].resok4.rflags & RESULT_CONFIRM:
        client.note(run(*client.confirm()))
    transfer(talk, client, size)
    for each in (client.open_again, client.lock):
        client.note(run(*each()))
    run(*client.test_lock())
    run(*client.renew())
    for each in (client.unlock, client.downgrade):
        client.note(run(*each()))
    run(*client.close())
    run(*client.release_lock_owner())
    change_names(run, client)
    run(*TOP, operation("REMOVE", target=name))


def transfer(talk, client, size):
    """WRITE, COMMIT and READ by the stateid of the open."""
    conn = talk.conn
    stored = write(bytes(size), stateid=client.stateid, stable=NFS4.StableHow.UNSTABLE4)
    call = conn.compound_call(putfh(client.handle), stored, getattr_of("size"), minorversion=0)
    conn.carry_arguments(call)
    talk.ask(call)
    commit = operation("COMMIT", offset=0, count=size)
    talk.ask(conn.compound_call(putfh(client.handle), commit, minorversion=0))
    fetched = read(size, stateid=client.stateid)
    call = conn.compound_call(putfh(client.handle), fetched, minorversion=0)
    conn.carry_result(call, size)
    talk.ask(call)


def change_names(run, client):
    """Names in the directory of the client, which has the file `file`."""
    inside = client.in_directory
    kind = {"type": NFS4.FileType.NF4LNK, "linkdata": "file"}
    fifo = {"type": NFS4.FileType.NF4FIFO}
    attributes = {"createattrs": NFS4.fattr(mode=0o644)}
    run(*inside(lookup("file"), "SAVEFH"), *inside(operation("LINK", newname="link")))
    run(*inside(operation("CREATE", objtype=kind, objname="symlink", **attributes), "READLINK"))
    run(*inside(operation("CREATE", objtype=fifo, objname="fifo", **attributes)))
    run(*inside("SAVEFH", operation("RENAME", oldname="link", newname="file-2"), "RESTOREFH"))
    mode = {"obj_attributes": NFS4.fattr(mode=0o600)}
    run(
        *inside(lookup("file"), operation("SETATTR", **mode), operation("VERIFY", **mode)),
        operation("ACCESS", access=0x3F),
        operation("NVERIFY", obj_attributes=NFS4.fattr(mode=0o644)),
        getattr_of("type", "size", "change", "fileid"),
    )
    run(*inside(operation("SECINFO", name="file")))
    run(*inside("LOOKUPP"))
    wanted = {"attr_request": NFS4.bitmap("type", "size"), "dircount": 512, "maxcount": 1024}
    run(*inside(operation("READDIR", cookie=0, cookieverf=bytes(8), **wanted)))
    run(*inside(*[operation("REMOVE", target=each) for each in ("file", "file-2", "symlink")]))
    run(*inside(operation("REMOVE", target="fifo")))


# -- version 4.1 -----------------------------------------------------------------------------------


def delegations(talk, size, name):
    """A delegation is wanted, used, recalled because another client writes, and given back."""
    session = talk.session(talk.conn, f"{name}-holder", csa_flags=BACK)
    talk.conn.callbacks.wait_seen(1)  # the server tries the path before it delegates
    top = session.run(*TOP, "GETFH")["GETFH"].resok4.object
    make(talk, session, top, name, size)
    opened, handle = session.open(top, name, READ | WANT_READ)
    granted = opened.delegation
    if granted.delegation_type != NFS4.DelegationType.OPEN_DELEGATE_READ:
        raise Ended(f"an OPEN that wants a delegation gets {granted.delegation_type.name}")
    held = granted.read.stateid
    session.run(putfh(handle), read(FEW_OCTETS, stateid=held))
    session.run(operation("TEST_STATEID", ts_stateids=[held, opened.stateid]))
    writer = talk.session(talk.connect(), f"{name}-writer")
    recall(talk, session, writer, (top, name), (handle, held))
    session.close(handle, opened.stateid)
    manage(talk, session)
    session.run(putfh(top), operation("REMOVE", target=name))
    for each in (writer, session):
        talk.end(each)


def make(talk, session, top, name, size):
    """A new file with so many octets."""
    how = {"mode": NFS4.CreateMode.GUARDED4, "createattrs": NFS4.fattr(mode=0o644)}
    creation = operation(
        "OPEN",
        share_access=NFS4.OPEN4_SHARE_ACCESS_BOTH,
        owner={"clientid": session.client.id, "owner": b"maker"},
        openhow={"opentype": NFS4.OpenType.OPEN4_CREATE, "how": how},
        claim={"claim": NFS4.ClaimType.CLAIM_NULL, "file": name},
    )
    made = session.run(putfh(top), creation, "GETFH")
    handle, stateid = made["GETFH"].resok4.object, made["OPEN"].resok4.stateid
    call = session.call(putfh(handle), write(bytes(size), stateid=stateid))
    talk.conn.carry_arguments(call)
    talk.ask(call)
    session.close(handle, stateid)


def recall(talk, session, writer, place, delegation):
    """Another client opens the file for writing. The recall is answered, and the delegation of `session` given back."""
    (top, name), (handle, stateid) = place, delegation
    opening = writer.call(putfh(top), writer.open_operation(name, WRITE, b"writer"), "GETFH")
    writer.conn.send(opening)
    writer.conn.work()
    callback = talk.conn.callbacks.wait()
    if callback is None:
        raise Ended("the delegation is not recalled")
    talk.conn.callbacks.answer(callback)
    session.run(putfh(handle), operation("DELEGRETURN", deleg_stateid=stateid))
    early = writer.conn.await_outcome(opening)
    writer.note(early)
    writer.take_back(early)
    opened, _ = writer.open(top, name, WRITE, b"writer")
    writer.run(putfh(handle), write(bytes(FEW_OCTETS), stateid=opened.stateid))
    writer.close(handle, opened.stateid)


def manage(talk, session):
    """What a client says of its backchannel and its connections."""
    control = {"bca_cb_program": CALLBACK_PROGRAM, "bca_sec_parms": [NO_CREDENTIAL]}
    session.run(operation("BACKCHANNEL_CTL", **control))
    more = talk.connect()
    session.bind(more, NFS4.ChannelDirFromClient.CDFC4_FORE_OR_BOTH)
    session.run("PUTROOTFH", operation("SECINFO_NO_NAME", style=0), conn=more)
    listing = {"attr_request": NFS4.bitmap("type", "size"), "dircount": 512}
    names = operation("READDIR", cookie=0, cookieverf=bytes(8), maxcount=1024, **listing)
    session.run(*TOP, names)

"""The pre-flight of a run against a third party: what would hinder its cases ends the run, with one sentence that
names the remedy.

It asks as cases do. An answer that breaks a requirement hinders nothing: a case judges it."""

from ... import nfs
from ..cases.case_end import CaseEnd, HarnessError
from ..nfs_client.mount import export_of, exports, MOUNTING, path_of
from ..nfs_client.nfs4_client import lookup
from ..nfs_client.nfs4_probe import Lack, PROBES
from ..nfs_client.rpc_programs import port_by_rpcbind, served_program

NFS3, MOUNT = nfs.nfs3, nfs.mount3
# Exports that a sentence names.
MOST_EXPORTS = 5
_LACKS_PROGRAM = ("rpc:PROG_UNAVAIL", "rpc:PROG_MISMATCH", "rpc:PROC_UNAVAIL")
_WRONG_HANDLE = ("nfs:NFS3ERR_STALE", "nfs:NFS3ERR_BADHANDLE")
_NO_PATH = ("nfs:NFS4ERR_NOENT", "nfs:NFS4ERR_NOTDIR", "nfs:NFS4ERR_ACCESS")
_WITHOUT_FILES = "`supports: {export: false}` in a profile"


class Hindrance(Exception):
    """The cases of the run cannot test the target; the text is one sentence with the remedy."""


def preflight(bench, link):
    """Asks for the versions of NFS, the root, and whether the suite may write. Raises Hindrance."""
    for step in (_versions, _files, _path):
        _take(step, bench, link)


def other_server(bench, link):
    """Why the twin over TCP is not the server under test, in one sentence, or "". Raises Hindrance."""
    return "" if link.twin in (None, link) else _take(_twin, bench, link) or ""


def _take(step, bench, link):
    """What the step gives; None if it ends early, without a hindrance."""
    try:
        return step(bench, link)
    except CaseEnd as end:
        # A HarnessError with a step is a refusal that breaks nothing. Anything else is a lack, or a failure.
        if isinstance(end, HarnessError) and end.step:
            raise Hindrance(_sentence(end, bench)) from None
    except (AttributeError, LookupError, TypeError, ValueError):
        pass  # an answer that lacks parts
    return None


def _versions(bench, link):
    """NULL of NFS version 3. A server of other versions lacks nfs3."""
    conn = bench.connect(greet=False)
    outcome = conn.exchange(conn.null_call())
    _check_is_nfs(bench, conn, outcome, link.url)
    if outcome.kind != "rpc:PROG_MISMATCH":
        return
    low, high = outcome.reply.mismatch.low, outcome.reply.mismatch.high
    if not low <= 4 <= high:
        raise Hindrance(
            f"it offers versions {low} to {high} of NFS: the suite needs version 3 or 4.1"
        )
    if link.probed("nfs41", PROBES["nfs41"]):
        raise Hindrance(
            "it offers neither version 3 nor version 4.1 of NFS: the suite needs one of them"
        )
    sentence = f"the target answers NULL of NFS version 3 with PROG_MISMATCH, {low} to {high}"
    link.note_lack("nfs3", Lack(sentence))


def _check_is_nfs(bench, conn, outcome, url):
    if outcome.kind != "rpc:PROG_UNAVAIL":
        return
    program = served_program(conn)
    serves = f"this port serves {program}, and not NFS" if program else "this port serves no NFS"
    found = port_by_rpcbind(url, NFS3.PROGRAM, NFS3.VERSION, bench.target.profile)
    named = f"{found}, by its rpcbind" if found else "2049 is usual over TCP, 20049 over RDMA"
    raise Hindrance(f"{serves}: give the port of NFS in the URL ({named})")


def _files(bench, _):
    """The export's root, FSINFO of it, and a file that is made and removed."""
    conn = bench.connect()
    outcome = conn.exchange(conn.nfs_call("FSINFO", fsroot=bench.root))
    if outcome.kind.startswith("nfs:"):
        raise Hindrance(_of_root(outcome, bench))
    bench.file(b"steertag")
    bench.clean_up()


def _path(bench, _):
    """The export's path by NFS version 4.1, if there is one."""
    try:
        session = bench.nfs4_session()
    except HarnessError:
        return  # an error of version 4.1: cases judge it
    path = export_of(bench.target)
    words = [word for word in path.split("/") if word]
    outcome = session.exchange_in_time("PUTROOTFH", *map(lookup, words), "GETFH")
    if outcome.kind in _NO_PATH:
        raise Hindrance(
            f"NFS version 4.1 finds no {path} ({_status(outcome)}): export it to version 4 by the same "
            "path, or say `supports: {nfs41: false}` in a profile"
        )


def _twin(bench, link):
    """The handle of the root means the same over TCP."""
    conn = bench.connect_tcp()
    _check_is_nfs(bench, conn, conn.exchange(conn.null_call()), link.twin.url)
    outcome = conn.exchange(conn.nfs_call("GETATTR", object=bench.root))
    if outcome.kind not in _WRONG_HANDLE:
        return ""
    return f"{link.twin.url} is another server: the root's handle of {link.url} is {_status(outcome)} there"


# -- sentences -------------------------------------------------------------------------------------


def _status(answer):
    """The status in the kind of an answer, of an Outcome or of the end of a preparation."""
    return answer.kind.partition(":")[2]


def _sentence(end, bench):
    """One sentence on a preparation that was refused."""
    if end.step.startswith(MOUNTING):
        return _of_mount(end, bench)
    if end.kind in _WRONG_HANDLE:
        return _of_root(end, bench)
    path, status, profile = export_of(bench.target), _status(end), bench.target.profile
    if status == "NFS3ERR_ROFS":
        return f"the export {path} is read-only ({status}): export it with write access (rw)"
    if status in ("NFS3ERR_ACCES", "NFS3ERR_PERM"):
        return (
            f"user {profile.uid}, group {profile.gid} may not write to {path} ({status}): export it with "
            "no_root_squash, or name others by `uid:` and `gid:` in a profile"
        )
    if status in ("NFS3ERR_NOSPC", "NFS3ERR_DQUOT"):
        return f"the export {path} has no room ({status}): free some"
    return f"{end.step} in {path} gave {end.kind}: mend the export, or say {_WITHOUT_FILES}"


def _of_root(answer, bench):
    status = _status(answer)
    if "handle" in bench.target.profile.mount:
        return f"`handle:` of the profile is no root of an export ({status}): give the one of today"
    return f"the root of {export_of(bench.target)} gave {status}: mend the export, or say {_WITHOUT_FILES}"


def _of_mount(end, bench):
    target, status = bench.target, _status(end)
    path = export_of(target)
    if end.kind in _LACKS_PROGRAM or not end.kind:
        missing = f"MOUNT is not served where the suite asks ({status or end.detail})"
        port = port_by_rpcbind(target.url, MOUNT.PROGRAM, MOUNT.VERSION, target.profile)
        if port:
            return f"{missing}: give --mount-port {port}, as its rpcbind says"
        return f"{missing}: give its port over TCP by --mount-port, or `mount:` in a profile"
    there = _exports(bench)
    listed = f" (it exports {', '.join(there)})" if there else ""
    if not status.startswith("MNT3ERR"):
        return f"MOUNT of {path} gave {end.kind}: allow AUTH_SYS, or say {_WITHOUT_FILES}"
    if path in there:
        return f"MOUNT of {path} gave {status}: export it to this host, also to ports above 1023 (insecure)"
    if not (path_of(target.url) or target.profile.export):
        return f"the URL names no export, and MOUNT of / gave {status}: add its path{listed}"
    return f"MOUNT of {path} gave {status}: name an export in the URL{listed}"


def _exports(bench):
    """The first exports that the server lists."""
    try:
        return exports(bench.target, bench.files.conn, bench.deadlines)[:MOST_EXPORTS]
    except CaseEnd:
        return []

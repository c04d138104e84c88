"""steertag-serve --export: what it refuses before it listens, and what a restart keeps."""

import os
import subprocess
import sys

import pytest

from steertag import build_paths, nfs, peer, rpc
from steertag.suite.run.options import DEFAULT_LISTEN
from steertag.suite.run.server_process import BundledServer

PROGRAM = os.environ.get("STEERTAG_SERVE") or str(build_paths.tool("steertag-serve"))
# A server that refuses its command line ends at once.
REFUSAL_S = 30
NOBODY = 65534
nfs3, mount3 = nfs.nfs3, nfs.mount3


def refusal(*arguments, before=()):
    """(exit status, the only line on stderr) of a server that shall not start."""
    command = [*before, PROGRAM, "--listen", "iwarp://127.0.0.1:0", *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=REFUSAL_S, check=False)
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert len(lines) == 1, ended.stderr
    return ended.returncode, lines[0]


class Export:
    """A directory with one file, and servers of it one after the other."""

    def __init__(self, place):
        self.place = place
        self.directory = place / "export"
        self.directory.mkdir()
        self.directory.chmod(0o777)
        (self.directory / "file").write_bytes(b"content")
        (self.directory / "file").chmod(0o666)
        self.server = None
        self.client = None
        self.uid = 0

    def start(self, *arguments, program=PROGRAM):
        self.stop()
        arguments = ["--export", str(self.directory), *map(str, arguments)]
        self.server = BundledServer(program, DEFAULT_LISTEN, arguments, self.place, "export")
        self.server.start()
        self.client = peer.Client(self.server.urls["rdma"])

    def stop(self):
        if self.server is not None:
            assert self.server.stop() is None

    def call(self, procedure, arguments, module=nfs3):
        """The result; as `uid`, 0 at first, which is the anonymous user where the server squashes root."""
        credential = rpc.auth_sys(uid=self.uid, gid=self.uid)
        call = module.encode_call(procedure, arguments, xid=1, credential=credential)
        return module.decode_reply(procedure, self.client.call(call))[1]

    def mount(self):
        return self.call("MNT", mount3.DirPath(path="/export"), mount3).fhandle

    def lookup(self, name):
        where = nfs3.DirOpArgs(dir=self.mount(), name=name)
        return self.call("LOOKUP", nfs3.LookupArgs(what=where)).ok.object

    def read(self, handle):
        return self.call("READ", nfs3.ReadArgs(file=handle, offset=0, count=100))

    def write(self, handle):
        data = b"changed"
        arguments = nfs3.WriteArgs(file=handle, count=len(data), data=data)
        return self.call("WRITE", arguments)


# Runs the server behind a filter that answers openat2 with ENOSYS, as RestrictSUIDSGID= of systemd.exec(5) has it.
WITHOUT_OPENAT2 = """#!{python}
import ctypes, os, struct, sys

OPENAT2, ENOSYS, ALLOW, ERRNO = 437, 38, 0x7FFF0000, 0x00050000
LOAD, IS_EQUAL, RETURN = 0x20, 0x15, 0x06
SET_NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2
code = [(LOAD, 0, 0, 0), (IS_EQUAL, 0, 1, OPENAT2), (RETURN, 0, 0, ERRNO | ENOSYS), (RETURN, 0, 0, ALLOW)]
octets = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in code))
program = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(octets)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
words = [ctypes.c_ulong(0)] * 2
assert prctl(SET_NO_NEW_PRIVS, ctypes.c_ulong(1), *words, ctypes.c_ulong(0)) == 0
assert prctl(SET_SECCOMP, ctypes.c_ulong(FILTER), program, *words) == 0
os.execv({server!r}, sys.argv)
"""


@pytest.fixture
def export(tmp_path):
    made = Export(tmp_path)
    yield made
    made.stop()


def test_what_cannot_be_exported(tmp_path):
    missing, file = tmp_path / "missing", tmp_path / "file"
    file.write_text("")
    assert refusal("--export", missing) == (
        1,
        f"steertag-serve: cannot export {missing}: No such file or directory",
    )
    assert refusal("--export", file) == (
        1,
        f"steertag-serve: cannot export {file}: Not a directory",
    )
    assert refusal("--export", "")[0] == 1
    key = tmp_path / "key"
    assert refusal("--export", missing, "--handle-key", key)[0] == 1
    assert not key.exists()


def test_directory_that_the_server_may_not_read(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    user = ()
    if os.geteuid() == 0:
        user = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")
        can_run = subprocess.run([*user, "test", "-x", PROGRAM], check=False).returncode == 0
        if not can_run:
            pytest.skip("another user may not run this build")
    status, line = refusal("--export", closed, before=user)
    assert (status, line.rsplit(": ", 1)[1]) == (1, "Permission denied")


def test_options_that_need_an_export(tmp_path):
    for words in (["--read-only"], ["--no-root-squash"], ["--handle-key", tmp_path / "key"]):
        status, line = refusal(*words)
        assert status == 2
        assert "--export" in line


def test_key_files_that_are_not_used(export):
    bad, open_to_all = export.place / "bad", export.place / "open"
    bad.write_text("0123\n")
    bad.chmod(0o600)
    open_to_all.write_text("0" * 32 + "\n")
    open_to_all.chmod(0o644)
    for path, reason in (
        (bad, "it does not hold 32 hexadecimal digits and a line feed"),
        (open_to_all, "others than its owner may read or write it"),
        (export.directory / "key", f"it lies within {export.directory}"),
    ):
        status, line = refusal("--export", export.directory, "--handle-key", path)
        assert status == 1
        assert line.startswith(f"steertag-serve: cannot use {path}: {reason}")
    assert not (export.directory / "key").exists()


def test_recovery_file_that_clients_could_reach(export):
    path = export.directory / "recovery"
    assert refusal("--export", export.directory, "--recovery", path) == (
        1,
        f"steertag-serve: cannot use {path}: it lies within {export.directory}, where clients could"
        " reach it",
    )
    assert not path.exists()


def test_handles_survive_a_restart_with_their_key(export):
    key = export.place / "key"
    export.start("--handle-key", key)
    assert key.stat().st_mode & 0o777 == 0o600
    handle = export.lookup("file")
    written = export.write(handle)
    assert written.status == nfs3.NFS3_OK
    export.start("--handle-key", key)
    assert export.read(handle).ok.data == b"changed"
    assert export.lookup("file") == handle
    assert export.write(handle).ok.verf != written.ok.verf
    export.start()
    assert export.read(handle).status == nfs3.NFS3ERR_BADHANDLE
    assert export.read(export.lookup("file")).ok.data == b"changed"


def test_read_only(export):
    export.start("--read-only")
    handle = export.lookup("file")
    assert export.read(handle).ok.data == b"content"
    assert export.write(handle).status == nfs3.NFS3ERR_ROFS
    assert (export.directory / "file").read_bytes() == b"content"


def owner_of_a_new_directory(export):
    """The (uid, gid) on the host of what the client makes."""
    where = nfs3.DirOpArgs(dir=export.mount(), name="made")
    made = export.call("MKDIR", nfs3.MkdirArgs(where=where))
    assert made.status == nfs3.NFS3_OK
    status = (export.directory / "made").stat()
    (export.directory / "made").rmdir()
    return status.st_uid, status.st_gid


def test_a_clients_root_is_nobody(export):
    """Whoever reaches the server can say to be uid 0. A server that is not root itself owns
    everything, and has no root's rights to give away."""
    secret = export.directory / "secret"
    secret.write_bytes(b"the owner's")
    secret.chmod(0o600)
    as_root = os.geteuid() == 0
    export.start()
    read = export.read(export.lookup("secret"))
    assert (read.status == nfs3.NFS3ERR_ACCES) == as_root
    nobody = (NOBODY, NOBODY)
    assert owner_of_a_new_directory(export) == (nobody if as_root else (os.geteuid(), os.getegid()))
    assert "--no-root-squash" not in export.server.output()


def test_root_is_let_in_when_told_so(export):
    secret = export.directory / "secret"
    secret.write_bytes(b"the owner's")
    secret.chmod(0o600)
    export.start("--no-root-squash")
    assert export.read(export.lookup("secret")).ok.data == b"the owner's"
    assert owner_of_a_new_directory(export) == (os.geteuid(), os.getegid())
    said = [line for line in export.server.output().splitlines() if "--no-root-squash" in line]
    assert len(said) == (1 if os.geteuid() == 0 else 0)
    assert all(line.endswith(f"is root within {export.directory}") for line in said)


def test_every_client_is_the_servers_user_when_told_so(export):
    """A server that is root itself owns the directory, and gives no client root's rights."""
    secret = export.directory / "secret"
    secret.write_bytes(b"the owner's")
    secret.chmod(0o600)
    as_root = os.geteuid() == 0
    export.start("--all-squash")
    export.uid = 1000
    read = export.read(export.lookup("secret"))
    assert (read.status == nfs3.NFS3ERR_ACCES) == as_root
    user = (NOBODY, NOBODY) if as_root else (os.geteuid(), os.getegid())
    assert owner_of_a_new_directory(export) == user


def test_an_export_is_served_where_openat2_is_refused(export):
    program = export.place / "without-openat2"
    program.write_text(WITHOUT_OPENAT2.format(python=sys.executable, server=PROGRAM))
    program.chmod(0o755)
    export.start("--no-root-squash", program=str(program))
    handle = export.lookup("file")
    assert export.read(handle).ok.data == b"content"
    assert export.write(handle).status == nfs3.NFS3_OK

"""What a client does while it is recorded: few steps, each for one way in which messages and chunks are used."""

from __future__ import annotations

import dataclasses

from lab.machines.link import SERVER_ADDRESS

CLIENT, SERVER = "client", "server"
# The step that fails if two machines do not find each other.
MOUNT = "mount"
VERSIONS = ("v3", "v4.1")
BOTH = VERSIONS
EXPORT = MOUNT_POINT = "/export"
# Beyond the inline threshold (4096 octets), and no multiple of a page or of four.
SOURCE_BYTES, LARGE_BYTES = 10_001, 9_003
# Fits inline, but not into one segment or packet.
MIDDLE_BYTES = 3_001
# A listing of so many files with long names is beyond the inline threshold too.
MANY_FILES = 40
LONG_LINK_BYTES = 4000
# And access control lists of so many users, about 20 octets each in NFS version 4. By NFSACL a server of Linux 6.1
# was seen to answer GETACL of a longer list with SYSTEM_ERR; it was not looked into why.
LISTED_USERS = {"v3": 40, "v4.1": 300}


@dataclasses.dataclass(frozen=True)
class Step:
    """One line of shell for one machine; `text` says what it is there for."""

    text: str
    machine: str
    command: str
    versions: tuple[str, ...] = BOTH


def steps(version: str, port: int, mount_port: int) -> list[Step]:
    """The workload of one version of NFS, in order."""
    return [step for step in _steps(version, port, mount_port) if version in step.versions]


def _at_mount(text: str, command: str, versions: tuple[str, ...] = BOTH) -> Step:
    """A step of the client among the files of the server."""
    return Step(text, CLIENT, f"cd {MOUNT_POINT} && {{ {command}; }}", versions)


def _steps(version: str, port: int, mount_port: int) -> list[Step]:
    options = f"vers={version[1:]},proto=rdma,port={port}"
    if version == "v3":
        options += f",nolock,mountproto=tcp,mountport={mount_port}"
    mount = f"mount.nfs {SERVER_ADDRESS}:{EXPORT} {MOUNT_POINT} -n -o {options}"
    numbers = f"seq -s ,u: 1001 {1000 + LISTED_USERS[version]}"
    users = f"u:$({numbers} | sed 's/,/:r,/g'):r"
    return [
        # Before the mount, hence not in the capture.
        Step(
            "the server has a file, a long symbolic link, a directory of many files, a long access control list",
            SERVER,
            f"cd {EXPORT}; yes source | head -c {SOURCE_BYTES} > source; echo held > held; "
            f"ln -s $(yes t | tr -d '\\n' | head -c {LONG_LINK_BYTES}) long-link; "
            f"mkdir many; for n in $(seq 10 {9 + MANY_FILES}); do "
            "echo $n > many/a-file-with-a-name-that-fills-the-listing-of-its-directory-soon-$n; done; "
            f"touch listed; setfacl -m {users} listed",
        ),
        Step(MOUNT, CLIENT, mount),
        _at_mount("read a file (write chunk)", "cat source | md5sum"),
        _at_mount("create and write a small file (inline)", "echo few octets > small"),
        _at_mount(
            "create and write a file that just fits inline",
            f"yes middle | head -c {MIDDLE_BYTES} | dd of=middle bs={MIDDLE_BYTES} iflag=fullblock",
        ),
        _at_mount(
            "create and write a large file (read chunk)",
            f"yes large | head -c {LARGE_BYTES} | dd of=large bs={LARGE_BYTES} iflag=fullblock",
        ),
        _at_mount("list a large directory (reply chunk)", "ls -l many"),
        _at_mount("read a short file", "cat many/*-10"),
        _at_mount("read a long symbolic link (reply chunk)", "readlink long-link"),
        _at_mount(
            "make a long symbolic link (read chunk)",
            f"ln -s $(yes s | tr -d '\\n' | head -c {LONG_LINK_BYTES}) other-link",
        ),
        _at_mount(
            "copy an access control list (NFSACL)",
            "touch other && getfacl -n listed | setfacl --set-file=- other",
            ("v3",),
        ),
        _at_mount(
            "copy a long access control list (reply chunk, position-zero read chunk)",
            "touch other && getfattr -e hex -n system.nfs4_acl --only-values listed "
            "> /tmp/list && setfattr -n system.nfs4_acl -v 0x$(xxd -p /tmp/list | tr -d '\\n') "
            "other",
            ("v4.1",),
        ),
        _at_mount("truncate, and change a mode", "truncate -s 7 large; chmod 600 large"),
        _at_mount("lock a file and unlock it", "flock 9 9>> small", ("v4.1",)),
        _at_mount("open a file and get a delegation", "cat held", ("v4.1",)),
        Step(
            "the server opens that file itself, which recalls the delegation (CB_RECALL)",
            SERVER,
            f"echo more >> {EXPORT}/held",
            ("v4.1",),
        ),
        _at_mount("read that file again", "cat held", ("v4.1",)),
        _at_mount("ask for a name that is not there", "! cat absent"),
        _at_mount(
            "make a directory, rename into it",
            "mkdir folder && mv small folder/renamed",
        ),
        _at_mount(
            "remove what was made",
            "rm folder/renamed middle large other-link other && rmdir folder",
        ),
        _at_mount("see how full the file system is", "df ."),
        Step("unmount", CLIENT, f"umount {MOUNT_POINT}"),
    ]

"""Calls of NFS version 3 that are not idempotent (RFC 1813 4.5).

Each has a change that another client makes before the call is repeated, and a check of it."""

import dataclasses
from collections.abc import Callable

from ..changed_directory import ChangedDirectory

UNCHECKED, GUARDED = 0, 1
EXIST, NOENT = "nfs:NFS3ERR_EXIST", "nfs:NFS3ERR_NOENT"
NOT_SYNC = "nfs:NFS3ERR_NOT_SYNC"
CONTENT = b"what another client has written"
OTHERS_MODE = 0o600


def nothing():
    """No other client changes anything."""


def always():
    return True


@dataclasses.dataclass(frozen=True)
class DuplicateCall:
    """A call under test: `make(conn, xid)`. `again` are the statuses of a second execution. After
    `meanwhile`, `holds` is true as long as there was none, as `sentence` says. Without `meanwhile`,
    `done` is true once the call was executed, as `effect` says."""

    make: Callable
    again: tuple = ()
    meanwhile: Callable = nothing
    holds: Callable = always
    sentence: str = ""
    done: Callable = always
    effect: str = ""


def made(make, has, effect):
    """A call that makes a name, which no other client removes."""
    return DuplicateCall(make, (EXIST,), holds=has, sentence=effect, done=has, effect=effect)


def nfs3(procedure, **fields):
    """What makes this call of version 3."""
    return lambda conn, xid=None: conn.nfs_call(procedure, xid=xid, **fields)


def remove(bench):
    place = ChangedDirectory(bench)
    place.make_file("file")
    return DuplicateCall(
        nfs3("REMOVE", object=place.where("file")),
        (NOENT,),
        lambda: place.make_file("file"),
        lambda: place.has("file"),
        "the file that another client made under this name is there",
        done=lambda: not place.has("file"),
        effect="the file is not there any more",
    )


def rmdir(bench):
    place = ChangedDirectory(bench)
    place.make_directory("directory")
    return DuplicateCall(
        nfs3("RMDIR", object=place.where("directory")),
        (NOENT,),
        lambda: place.make_directory("directory"),
        lambda: place.has("directory"),
        "the directory that another client made under this name is there",
        done=lambda: not place.has("directory"),
        effect="the directory is not there any more",
    )


def rename(bench):
    place = ChangedDirectory(bench)
    place.make_file("old")
    moved = place.file_id("old")
    return DuplicateCall(
        nfs3("RENAME", from_=place.where("old"), to=place.where("new")),
        (NOENT,),
        lambda: place.make_file("old"),
        lambda: place.has("old") and place.file_id("new") == moved,
        "the file that another client made under the old name is there, and the first under the new",
        done=lambda: not place.has("old") and place.file_id("new") == moved,
        effect="the file is there under its new name, and not under the old one",
    )


def create(bench, mode):
    """(directory, what makes a CREATE in it)"""
    place = ChangedDirectory(bench)
    how = {"mode": mode, "obj_attributes": {"mode": 0o640, "size": 0}}
    return place, nfs3("CREATE", where=place.where("file"), how=how)


def create_guarded(bench):
    place, make = create(bench, GUARDED)
    return DuplicateCall(
        make,
        (EXIST,),
        lambda: place.make_file("file", CONTENT),
        lambda: place.content("file") == CONTENT,
        "the file has what another client has written",
        done=lambda: place.has("file"),
        effect="the file is there",
    )


def create_guarded_removed(bench):
    place, make = create(bench, GUARDED)
    return DuplicateCall(
        make,
        (),
        lambda: place.remove("file"),
        lambda: not place.has("file"),
        "the file that another client has removed is not there",
    )


def create_unchecked(bench):
    place, make = create(bench, UNCHECKED)
    return DuplicateCall(
        make,
        (),
        lambda: place.make_file("file", CONTENT),
        lambda: place.content("file") == CONTENT,
        "the file has what another client has written",
    )


def make_directory(place):
    return nfs3("MKDIR", where=place.where("directory"), attributes={"mode": 0o750})


def mkdir(bench):
    place = ChangedDirectory(bench)
    return made(make_directory(place), lambda: place.has("directory"), "the directory is there")


def mkdir_removed(bench):
    place = ChangedDirectory(bench)
    return DuplicateCall(
        make_directory(place),
        (),
        lambda: place.remove_directory("directory"),
        lambda: not place.has("directory"),
        "the directory that another client has removed is not there",
    )


def symlink(bench):
    place = ChangedDirectory(bench)
    text = {"symlink_attributes": {}, "symlink_data": "where it leads"}
    make = nfs3("SYMLINK", where=place.where("link"), symlink=text)
    return made(make, lambda: place.has("link"), "the symbolic link is there")


def link(bench):
    place = ChangedDirectory(bench)
    file = place.make_file("file")
    linked = place.file_id("file")
    make = nfs3("LINK", file=file, link=place.where("link"))
    return made(make, lambda: place.file_id("link") == linked, "the file has its second name")


def link_removed(bench):
    place = ChangedDirectory(bench)
    file = place.make_file("file")
    return DuplicateCall(
        nfs3("LINK", file=file, link=place.where("link")),
        (),
        lambda: place.remove("link"),
        lambda: not place.has("link"),
        "the link that another client has removed is not there",
    )


def setattr_guarded(bench):
    place = ChangedDirectory(bench)
    file = place.make_file("file")
    guard = place.attributes(file).ctime
    return DuplicateCall(
        nfs3("SETATTR", object=file, new_attributes={"mode": 0o640}, guard=guard),
        (NOT_SYNC,),
        lambda: place.set_mode(file, OTHERS_MODE),
        lambda: place.attributes(file).mode & 0o777 == OTHERS_MODE,
        "the file has the mode that another client has set",
    )


def setattr_size(bench):
    place = ChangedDirectory(bench)
    file = place.make_file("file", b"what is cut off")
    return DuplicateCall(
        nfs3("SETATTR", object=file, new_attributes={"size": 0}, guard=None),
        (),
        lambda: place.write(file, CONTENT),
        lambda: place.content("file") == CONTENT,
        "the file has what another client has written",
    )


CALLS = {
    "remove": remove,
    "rmdir": rmdir,
    "rename": rename,
    "create-guarded": create_guarded,
    "create-guarded-removed": create_guarded_removed,
    "create-unchecked": create_unchecked,
    "mkdir": mkdir,
    "mkdir-removed": mkdir_removed,
    "symlink": symlink,
    "link": link,
    "link-removed": link_removed,
    "setattr-guarded": setattr_guarded,
    "setattr-size": setattr_size,
}

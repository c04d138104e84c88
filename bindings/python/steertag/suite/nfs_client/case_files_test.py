"""The files of a case with a server that gives too much, or lists names without end."""

import types

import pytest

from steertag.suite.cases import kinds
from steertag.suite.cases.case_end import Failed
from steertag.suite.nfs_client import case_files
from steertag.suite.nfs_client.case_files import Files, MOST_REMOVED, SMALL_INLINE_DATA
from steertag.suite.nfs_client.nfs3_file_calls import Nfs3FileCalls
from steertag.suite.recording.recorder import Recorder


def reply(**fields):
    return types.SimpleNamespace(
        kind=kinds.REPLY, result=types.SimpleNamespace(ok=types.SimpleNamespace(**fields))
    )


class Answers(Nfs3FileCalls):
    """Calls whose answers the test gives, by procedure."""

    def __init__(self, answers):
        super().__init__(None)
        self.answers, self.asked = answers, []

    def _outcome(self, procedure, fields):
        self.asked.append(procedure)
        return self.answers[procedure]


def files_of(calls):
    """Files below b"root", made and read by these Answers."""
    link = types.SimpleNamespace(unique="1")
    files = Files(None, link, None, "case", Recorder(), lambda _: calls)
    files._conn = types.SimpleNamespace(open=True, inline_octets=1024, owed="RFC8166-3.3.3-1")
    files._directory = b"root"
    return files


@pytest.mark.parametrize(
    "data, eof, detail",
    [
        (bytes(SMALL_INLINE_DATA + 1), True, "READ of 512 octets gives 513"),
        (b"x", False, "READs of a file come to no end"),
        (b"", False, "READs of a file come to no end"),
    ],
)
def test_a_file_that_cannot_be_so_is_a_failure(data, eof, detail):
    calls = Answers({"READ": reply(data=data, eof=eof)})
    files = files_of(calls)
    with pytest.raises(Failed, match="preparing the case: READ gave garbage") as caught:
        files.read(b"handle")
    assert detail in caught.value.detail
    assert len(calls.asked) <= case_files.MOST_READS


@pytest.mark.parametrize("removable", [True, False])
def test_names_without_end_end_a_clean_up(removable):
    names = [types.SimpleNamespace(name=f"name-{number}") for number in range(100)]
    refused = types.SimpleNamespace(kind="nfs:NFS3ERR_ISDIR")
    calls = Answers(
        {
            "MKDIR": reply(obj=b"directory"),
            "LOOKUP": reply(object=b"directory"),
            "READDIR": reply(entries=names),
            "REMOVE": reply() if removable else refused,
            "RMDIR": reply(),
        }
    )
    files = files_of(calls)
    files.directory("mine")
    files.clean_up()
    assert calls.asked.count("REMOVE") <= MOST_REMOVED
    assert calls.asked[-1] == "RMDIR"
